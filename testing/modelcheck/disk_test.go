package modelcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
)

// content is the content of a key.
type content struct {
	bytes    []byte
	metadata map[string]string
	modified time.Time
	revision string
}

// String returns what identifies the content, without the bytes.
func (c content) String() string {
	b := append([]byte(c.revision), ' ')
	b = strconv.AppendInt(b, c.modified.UnixMilli(), 10)
	b = strconv.AppendInt(append(b, ' '), int64(len(c.bytes)), 10)
	for _, name := range slices.Sorted(maps.Keys(c.metadata)) {
		b = append(append(append(append(b, ' '), name...), '='), c.metadata[name]...)
	}
	return string(b)
}

// disk is the shared storage of processes. Each request is atomic.
type disk struct {
	contents map[string]content
	writes   map[string]int // by key
	flaw     func(d *disk, write *write)
}

// write is a request to write.
type write struct {
	key      string
	bytes    []byte
	metadata map[string]string
	absent   bool
	revision string // "" for any
	discard  bool   // the disk answers and does nothing: a flaw
}

var (
	errNone     = errors.New("there is none")
	errConflict = errors.New("the condition does not hold")
)

func (d *disk) put(w write, now time.Time) error {
	if d.flaw != nil {
		d.flaw(d, &w)
	}
	present, there := d.contents[w.key]
	if w.absent && there || w.revision != "" && (!there || present.revision != w.revision) {
		return errConflict
	}
	if w.discard {
		return nil
	}
	d.writes[w.key]++
	d.contents[w.key] = content{w.bytes, w.metadata, now, w.key + "-" + strconv.Itoa(d.writes[w.key])}
	return nil
}

// put writes, and records when a lock was renewed.
func (p *process) put(w write, now time.Time) error {
	err := p.disk.put(w, now)
	if err == nil && strings.HasPrefix(w.key, ".pulumi/locks/") {
		p.renewed[w.key] = p.clock()
	}
	return err
}

func (d *disk) list(prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.contents)), func(key string) bool { return !strings.HasPrefix(key, prefix) })
}

func (d *disk) clone() *disk {
	return &disk{contents: maps.Clone(d.contents), writes: maps.Clone(d.writes), flaw: d.flaw}
}

// matters reports whether the content of a key affects processes. Histories and backups are for people.
func matters(key string) bool {
	return !strings.Contains(key, "/history/") && !strings.Contains(key, "/backups/") && !strings.HasSuffix(key, ".bak")
}

// describe adds the content.
func (d *disk) describe(to *digest) {
	for _, key := range d.list("") {
		if c := d.contents[key]; matters(key) {
			to.text(key)
			to.text(c.revision)
			to.number(uint64(len(c.bytes)))
			to.bytes = append(to.bytes, c.bytes...)
			to.number(uint64(c.modified.UnixMilli()))
		}
	}
}

// kindOf returns k, or quiet for a key that no other process changes while processes run.
func kindOf(key string, k kind) kind {
	if !matters(key) || strings.HasSuffix(key, "meta.yaml") || strings.HasSuffix(key, ".gz") || strings.HasSuffix(key, ".zst") ||
		strings.HasPrefix(key, ".pulumi/sluice/pairs/") {
		return quiet
	}
	return k
}

// short returns a short form of what a request writes, and of its condition.
func short(content []byte, revision string) string {
	d := digest{bytes: make([]byte, 0, len(content)+len(revision)+1)}
	d.bytes = append(d.bytes, content...)
	d.text(revision)
	return fmt.Sprintf(" %08x", uint32(d.sum()))
}

// textOf returns the text of an error, "" for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// bucket is a bucket of an object store in the view of a process.
type bucket struct {
	*process
	conditional bool // it supports conditional writes
}

var _ driver.Bucket = bucket{}

func (b bucket) ErrorCode(err error) gcerrors.ErrorCode {
	switch {
	case errors.Is(err, errNone):
		return gcerrors.NotFound
	case errors.Is(err, errConflict):
		return gcerrors.FailedPrecondition
	}
	return gcerrors.Unknown
}

func (b bucket) As(any) bool             { return false }
func (b bucket) ErrorAs(error, any) bool { return false }
func (b bucket) Close() error            { return nil }

func (b bucket) Attributes(ctx context.Context, key string) (a *driver.Attributes, err error) {
	fault := b.do(ctx, "HEAD "+key, kindOf(key, look), func() string {
		c, there := b.disk.contents[key]
		if !there {
			err = errNone
			return "none"
		}
		a = &driver.Attributes{Metadata: c.metadata, ModTime: c.modified, Size: int64(len(c.bytes)), ETag: c.revision}
		return c.String()
	})
	return a, errors.Join(fault, err)
}

func (b bucket) ListPaged(ctx context.Context, o *driver.ListOptions) (page *driver.ListPage, err error) {
	err = b.do(ctx, "LIST "+o.Prefix, kindOf(o.Prefix, look), func() string {
		page = &driver.ListPage{}
		keys := b.disk.list(o.Prefix)
		for _, key := range keys {
			c := b.disk.contents[key]
			page.Objects = append(page.Objects, &driver.ListObject{Key: key, ModTime: c.modified, Size: int64(len(c.bytes))})
		}
		return strings.Join(keys, " ")
	})
	return page, err
}

// reader reads a received content.
type reader struct {
	*bytes.Reader
	attributes driver.ReaderAttributes
}

func (r reader) Close() error                         { return nil }
func (r reader) As(any) bool                          { return false }
func (r reader) Attributes() *driver.ReaderAttributes { return &r.attributes }

func (b bucket) NewRangeReader(ctx context.Context, key string, _, _ int64, _ *driver.ReaderOptions) (r driver.Reader, err error) {
	fault := b.do(ctx, "GET "+key, kindOf(key, look), func() string {
		c, there := b.disk.contents[key]
		if !there {
			err = errNone
			return "none"
		}
		r = reader{bytes.NewReader(c.bytes), driver.ReaderAttributes{ModTime: c.modified, Size: int64(len(c.bytes))}}
		return string(c.bytes)
	})
	return r, errors.Join(fault, err)
}

// writer sends a content when it is closed.
type writer struct {
	bytes.Buffer
	ctx    context.Context
	bucket bucket
	write  write
}

var _ io.WriteCloser = (*writer)(nil)

// condition is the condition of a write.
type condition struct{ revision string }

func (b bucket) NewTypedWriter(ctx context.Context, key, _ string, o *driver.WriterOptions) (driver.Writer, error) {
	w := &writer{ctx: ctx, bucket: b, write: write{key: key, metadata: o.Metadata, absent: o.IfNotExist}}
	if o.BeforeWrite != nil {
		var c condition
		if err := o.BeforeWrite(func(i any) bool {
			to, ok := i.(**condition)
			if ok {
				*to = &c
			}
			return ok
		}); err != nil {
			return nil, err
		}
		w.write.revision = c.revision
	}
	return w, nil
}

func (w *writer) Close() (err error) {
	w.write.bytes = w.Bytes()
	b := w.bucket
	what, k := "PUT "+w.write.key, kindOf(w.write.key, change)
	if k != quiet {
		what += short(w.write.bytes, w.write.revision)
	}
	fault := b.do(w.ctx, what, k, func() string {
		err = b.put(w.write, b.clock())
		return textOf(err)
	})
	return errors.Join(fault, err)
}

func (b bucket) Copy(ctx context.Context, to, from string, _ *driver.CopyOptions) (err error) {
	fault := b.do(ctx, "COPY "+from+" "+to, kindOf(to, change), func() string {
		c, there := b.disk.contents[from]
		if !there {
			err = errNone
			return "none"
		}
		err = b.disk.put(write{key: to, bytes: c.bytes, metadata: c.metadata}, b.clock())
		return ""
	})
	return errors.Join(fault, err)
}

func (b bucket) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) (err error) {
	fault := b.do(ctx, "DELETE "+key, kindOf(key, change), func() string {
		if _, there := b.disk.contents[key]; !there {
			err = errNone
		}
		b.removed(key)
		delete(b.disk.contents, key)
		return textOf(err)
	})
	return errors.Join(fault, err)
}

func (b bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

// objectStore is the store in a bucket.
func (b bucket) objectStore() store.Store {
	o := objects.Options{URL: "test://states"}
	if b.conditional {
		o.Match = func(as func(any) bool, revision string) bool {
			var c *condition
			if as(&c) {
				c.revision = revision
			}
			return c != nil
		}
	}
	return objects.New(blob.NewBucket(b), o)
}
