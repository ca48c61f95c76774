package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// Log is a content that grows at its end. It is used by one goroutine at a time. Writes are durable when the method
// returns.
type Log interface {
	// Exists reports whether there is a log, whatever its content.
	Exists(ctx context.Context) (bool, error)
	// Read returns the content, nil if there is no log.
	Read(ctx context.Context) ([]byte, error)
	// Create begins the log. If there is one it stays as it is, and the error wraps [ErrConflict].
	Create(ctx context.Context, first []byte) error
	// Append adds to the end. After an error the log may have a part of the addition.
	Append(ctx context.Context, b []byte) error
	// Truncate cuts the log to its first size bytes.
	Truncate(ctx context.Context, size int64) error
	// Remove removes the log that was created or read; without one, the existing log, if there is one. After a Create that
	// found another log it removes nothing.
	Remove(ctx context.Context) error
	// Sweep removes the remains of logs whose processes were killed while they removed them. It is called when there is no log.
	Sweep(ctx context.Context) error
}

// NewLog returns the log of a key: a file of a directory. In a store that cannot append it is one content for each
// addition, in a folder with the key's name without its extension ([state.md 9.5]).
//
// [state.md 9.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#95-the-journal
func NewLog(s Store, key string) Log {
	if d, ok := s.(*Dir); ok {
		return &fileLog{dir: d, key: key, path: d.Path(key)}
	}
	return &segmentLog{store: s, folder: strings.TrimSuffix(key, filepath.Ext(key)) + "/"}
}

// fileLog is a file that is appended to.
type fileLog struct {
	dir  *Dir
	key  string
	path string
	open *os.File // since it was created or first appended to; nil before that
	// foreign is true after a Create that found another log.
	foreign bool
}

func (l *fileLog) Exists(context.Context) (bool, error) {
	_, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (l *fileLog) Read(context.Context) ([]byte, error) {
	l.foreign = false
	b, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// Create gives the log its name when it is whole, so that nobody finds a log without its beginning.
func (l *fileLog) Create(_ context.Context, first []byte) error {
	temp, err := l.dir.write(l.key, bytes.NewReader(first))
	if err != nil {
		return err
	}
	defer temp.use.Close()
	if err := l.dir.at(Appending); err != nil {
		return err
	}
	folder := filepath.Dir(l.path)
	err = l.dir.makeDirs(folder)
	if err == nil {
		err = l.name(temp.path)
	}
	if l.foreign = errors.Is(err, ErrConflict); err == nil {
		l.open, err = l.atEnd()
	}
	return errors.Join(err, private.Remove(temp.path), syncDir(folder))
}

// name makes a temporary file the log, if there is none.
func (l *fileLog) name(temp string) error {
	err := os.Link(temp, l.path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return Conflict(l.path)
	}
	// The file system has no second names. The holder of the stack's lock is alone here.
	if _, err := os.Lstat(l.path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, Conflict(l.path))
	}
	return os.Rename(temp, l.path)
}

func (l *fileLog) Append(_ context.Context, b []byte) error {
	if l.open == nil {
		f, err := l.atEnd()
		if err != nil {
			return err
		}
		l.open = f
	}
	return l.write(b)
}

func (l *fileLog) atEnd() (*os.File, error) { return os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0) }

func (l *fileLog) write(b []byte) error {
	if err := l.dir.at(Appending); err != nil {
		return err
	}
	if _, err := l.open.Write(b); err != nil {
		return err
	}
	return l.open.Sync()
}

func (l *fileLog) Truncate(_ context.Context, size int64) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

func (l *fileLog) Remove(context.Context) error {
	if l.foreign {
		return nil
	}
	if l.open != nil {
		isThere := l.isThere()
		_ = l.open.Close() // everything in it is durable
		l.open = nil
		if !isThere {
			return nil
		}
	}
	if err := private.Remove(l.path); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(l.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep implements [Log]. The removal of a file leaves no remains.
func (l *fileLog) Sweep(context.Context) error { return nil }

// isThere reports whether the open file still has its name. A recovery of the log removes it, and then another one may be
// there.
func (l *fileLog) isThere() bool {
	ours, err := l.open.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(ours, there)
}

// segmentLog is a sequence of contents. The first one makes it a log: it is written first and removed first, so that the
// remains of an interrupted removal are not a log. Each log has a folder of its own: late writes of a process that has lost
// the log make another log, which stays until it is read.
type segmentLog struct {
	store  Store
	folder string
	run    string // the folder of this log in that folder; "" before it is chosen
	next   int    // the number of the next segment
	// foreign is true after a Create that found another log.
	foreign bool
}

const segmentName = "%012d.seg"

// segments lists the contents of the log, none if there is no log, and the keys of those of no log. If the log is not chosen
// yet, it is the first one.
func (l *segmentLog) segments(ctx context.Context) (ours []Info, debris []string, err error) {
	infos, err := l.store.List(ctx, l.folder)
	if err != nil {
		return nil, nil, err
	}
	first := "/" + fmt.Sprintf(segmentName, 1)
	var log string // the folder of the last key's log
	for _, i := range infos {
		rest := strings.TrimPrefix(i.Key, l.folder)
		run, _, _ := strings.Cut(rest, "/")
		if strings.HasSuffix(rest, first) {
			log = run
			l.run = cmp.Or(l.run, run)
		}
		switch {
		case run != log:
			debris = append(debris, i.Key)
		case run == l.run:
			ours = append(ours, i)
		}
	}
	return ours, debris, nil
}

func keysOf(infos []Info) []string {
	keys := make([]string, len(infos))
	for i := range infos {
		keys[i] = infos[i].Key
	}
	return keys
}

func (l *segmentLog) Exists(ctx context.Context) (bool, error) {
	l.run = ""
	segments, _, err := l.segments(ctx)
	return len(segments) > 0, err
}

func (l *segmentLog) Read(ctx context.Context) ([]byte, error) {
	l.run, l.foreign = "", false
	segments, _, err := l.segments(ctx)
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	for i, s := range segments {
		if !strings.HasSuffix(s.Key, fmt.Sprintf(segmentName, i+1)) {
			return nil, fmt.Errorf("%s: segment %d of the journal is missing", l.store.Name(l.folder), i+1)
		}
	}
	parts, err := Contents(ctx, l.store, keysOf(segments)...)
	if err != nil {
		return nil, err
	}
	l.next = len(segments) + 1
	if all := slices.Concat(parts...); all != nil {
		return all, nil
	}
	return []byte{}, nil
}

func (l *segmentLog) key(number int) string {
	return l.folder + l.run + "/" + fmt.Sprintf(segmentName, number)
}

func (l *segmentLog) Create(ctx context.Context, first []byte) error {
	l.run = ""
	segments, debris, err := l.segments(ctx)
	if err != nil {
		return err
	}
	if l.foreign = len(segments) > 0; l.foreign {
		return Conflict(l.store.Name(l.folder))
	}
	if err := l.store.Remove(ctx, debris...); err != nil {
		return err
	}
	l.run, l.next = uuid.NewString(), 1
	return l.Append(ctx, first)
}

func (l *segmentLog) Append(ctx context.Context, b []byte) error {
	if l.next == 0 {
		if _, err := l.Read(ctx); err != nil {
			return err
		}
	}
	// A recovery of the log may have continued it already when a segment arrives.
	if _, err := l.store.Write(ctx, l.key(l.next), b, New()); err != nil {
		return err
	}
	l.next++
	return nil
}

func (l *segmentLog) Truncate(ctx context.Context, size int64) error {
	l.run = ""
	segments, _, err := l.segments(ctx)
	if err != nil {
		return err
	}
	keys := keysOf(segments)
	parts, err := Contents(ctx, l.store, keys...) // the sizes in the list need not be those of the contents
	if err != nil {
		return err
	}
	var cut []string
	for i, key := range keys {
		length := int64(len(parts[i]))
		switch {
		case size <= 0:
			cut = append(cut, key)
		case length > size:
			if _, err := l.store.Write(ctx, key, parts[i][:size], Condition{}); err != nil {
				return err
			}
		}
		size -= length
	}
	for i := len(cut) - 1; i >= 0; i-- { // from the end: there is never a gap
		if err := l.store.Remove(ctx, cut[i]); err != nil {
			return err
		}
	}
	l.next = len(keys) - len(cut) + 1
	return nil
}

func (l *segmentLog) Remove(ctx context.Context) error {
	if l.foreign {
		return nil
	}
	segments, debris, err := l.segments(ctx)
	if err != nil {
		return err
	}
	if len(segments) > 0 {
		if err := l.store.Remove(ctx, segments[0].Key); err != nil {
			return err
		}
		debris = append(debris, keysOf(segments[1:])...)
	}
	l.run, l.next = "", 0
	return l.store.Remove(ctx, debris...)
}

func (l *segmentLog) Sweep(ctx context.Context) error {
	_, debris, err := l.segments(ctx)
	if err != nil {
		return err
	}
	return l.store.Remove(ctx, debris...)
}
