// Package objects makes a store of a bucket of an object store, through the portable interface of gocloud.dev/blob
// ([state.md 4.11]). It links no driver: package cloud has those.
//
// Invariant: nothing is renamed. An object appears whole or not at all, as the object store itself guarantees.
//
// [state.md 4.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#411-object-stores
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/sourcegraph/conc/iter"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/internal/doubts"
)

// Options are the parts of an object store that are outside the portable interface.
type Options struct {
	// URL names the bucket with its prefix, for people: "s3://bucket/prefix/".
	URL string
	// Revision returns the value that Match compares; nil is the entity tag.
	Revision func(*blob.Attributes) string
	// Match makes a write conditional on the revision of the object. as gives access to the driver's request (see
	// [blob.WriterOptions]). It returns false if it cannot. nil never can.
	Match func(as func(any) bool, revision string) bool
	// BeforeCopy is the option of copies (see [blob.CopyOptions]); it may be nil.
	BeforeCopy func(as func(any) bool) error
	// Whole passes each content to the driver in one piece, without a checksum of its own.
	Whole bool
	// Refused reports whether an error means that the object store does not support conditional writes; it may be nil.
	Refused func(error) bool
}

// Store is a [store.Store] in a bucket.
type Store struct {
	bucket  *blob.Bucket
	options Options
	doubts  doubts.Doubts
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Lean  = (*Store)(nil)
)

// New returns the store in a bucket, which Close closes.
func New(bucket *blob.Bucket, o Options) *Store { return &Store{bucket: bucket, options: o} }

// Name implements [store.Store].
func (s *Store) Name(key string) string { return strings.TrimSuffix(s.options.URL, "/") + "/" + key }

// Close implements [store.Store].
func (s *Store) Close() error { return s.bucket.Close() }

// explain names the object, and translates the error into those of package store.
func (s *Store) explain(key string, err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.OK:
		return nil
	case gcerrors.NotFound:
		return store.Missing(s.Name(key))
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return store.Conflict(s.Name(key))
	}
	return fmt.Errorf("%s: %w", s.Name(key), err)
}

// Read implements [store.Store].
func (s *Store) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	info, err := s.describe(ctx, key)
	if err != nil {
		return nil, store.Info{}, err
	}
	b, err := s.Content(ctx, key)
	return b, info, err
}

// Content implements [store.Lean] with one request, where Read needs another one for the description.
func (s *Store) Content(ctx context.Context, key string) ([]byte, error) {
	b, err := s.bucket.ReadAll(ctx, key)
	return b, s.explain(key, err)
}

func (s *Store) describe(ctx context.Context, key string) (store.Info, error) {
	info, _, err := s.examine(ctx, key)
	return info, err
}

// examine describes an object, and returns the ID of the conditional write that wrote it, "" if another write did.
func (s *Store) examine(ctx context.Context, key string) (info store.Info, writer string, err error) {
	a, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return store.Info{}, "", s.explain(key, err)
	}
	info = store.Info{Key: key, Modified: a.ModTime, Size: a.Size, Revision: a.ETag}
	if s.options.Revision != nil {
		info.Revision = s.options.Revision(a)
	}
	return info, a.Metadata[doubts.Name], nil
}

// Stat implements [store.Store] with a request for each key, all at once.
func (s *Store) Stat(ctx context.Context, keys ...string) ([]store.Info, error) {
	found, err := iter.Mapper[string, []store.Info]{MaxGoroutines: store.Requests}.MapErr(keys, func(key *string) ([]store.Info, error) {
		info, err := s.describe(ctx, *key)
		switch {
		case isMissing(err):
			return nil, nil
		case err != nil:
			return nil, err
		}
		return []store.Info{info}, nil
	})
	var all []store.Info
	for _, f := range found {
		all = append(all, f...)
	}
	return all, err
}

// List implements [store.Store]. Revisions are not listed.
func (s *Store) List(ctx context.Context, prefix string) ([]store.Info, error) {
	var infos []store.Info
	objects := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	all, stop := objects.All(ctx)
	for o := range all {
		infos = append(infos, store.Info{Key: o.Key, Modified: o.ModTime, Size: o.Size})
	}
	if err := stop(); err != nil {
		return nil, s.explain(prefix, err)
	}
	return infos, nil
}

// minPart is the smallest part of an upload that the drivers send.
const minPart = 5 << 20

// Write implements [store.Store]. An object is sent in one piece: not all object stores support conditions for uploads
// in parts.
func (s *Store) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if c == (store.Condition{}) {
		if err := s.send(ctx, key, content, blob.WriterOptions{}); err != nil {
			return store.Info{}, s.explain(key, err)
		}
		return store.Info{Key: key, Size: int64(len(content))}, nil
	}
	id := uuid.NewString()
	refused := s.writeIf(ctx, key, content, c, id)
	if refused == nil && c.Blind() {
		s.doubts.Forget(key)
		return store.Info{Key: key, Size: int64(len(content))}, nil
	}
	info, writer, err := s.examine(ctx, key)
	switch {
	case err == nil && writer == id:
		// Also after a refusal: the drivers repeat a request whose reply was lost, and then the first one causes the refusal.
		s.doubts.Forget(key)
		return info, nil
	case refused == nil && err != nil:
		s.doubts.Add(key, id)
		return store.Info{}, err
	case refused == nil && writer == "" && info.Size == int64(len(content)):
		return info, nil // the object store keeps no metadata
	case refused == nil:
		return store.Info{}, store.Conflict(s.Name(key)) // it has been replaced already
	case err == nil && errors.Is(refused, store.ErrConflict) && s.doubts.Has(key, writer):
		return s.Write(ctx, key, content, store.IfRevision(info.Revision))
	case !errors.Is(refused, store.ErrConflict) || err != nil:
		s.doubts.Add(key, id)
	}
	return store.Info{}, refused
}

// send writes an object in one piece.
func (s *Store) send(ctx context.Context, key string, content []byte, o blob.WriterOptions) error {
	o.BufferSize = max(minPart, len(content)+1)
	if s.options.Whole {
		o.ContentType = http.DetectContentType(content)
		return s.bucket.Upload(ctx, key, bytes.NewReader(content), &o)
	}
	return s.bucket.WriteAll(ctx, key, content, &o)
}

// writeIf writes an object if a condition holds. The object has the ID of the write in its metadata.
func (s *Store) writeIf(ctx context.Context, key string, content []byte, c store.Condition, id string) error {
	metadata := map[string]string{doubts.Name: id}
	options := blob.WriterOptions{IfNotExist: c.Absent(), Metadata: metadata}
	var checked bool
	if c.Revision() != "" && s.options.Match != nil {
		options.BeforeWrite = func(as func(any) bool) error {
			checked = s.options.Match(as, c.Revision())
			return nil
		}
	}
	check := func() error {
		now, err := s.describe(ctx, key)
		if err != nil && !isMissing(err) {
			return err
		}
		return c.Check(s.Name(key), now, err == nil)
	}
	if c.Revision() != "" && s.options.Match == nil {
		if err := check(); err != nil {
			return err
		}
	}
	err := s.send(ctx, key, content, options)
	if err != nil && (c.Absent() || checked) && s.options.Refused != nil && s.options.Refused(err) {
		if err := check(); err != nil {
			return err
		}
		err = s.send(ctx, key, content, blob.WriterOptions{Metadata: metadata})
	}
	return s.explain(key, err)
}

// Copy implements [store.Store]. The content does not leave the object store.
func (s *Store) Copy(ctx context.Context, from, to string) error {
	err := s.bucket.Copy(ctx, to, from, &blob.CopyOptions{BeforeCopy: s.options.BeforeCopy})
	return s.explain(from, err)
}

// Remove implements [store.Store].
func (s *Store) Remove(ctx context.Context, keys ...string) error {
	errs := iter.Mapper[string, error]{MaxGoroutines: store.Requests}.Map(keys, func(key *string) error {
		if err := s.explain(*key, s.bucket.Delete(ctx, *key)); !isMissing(err) {
			return err
		}
		return nil
	})
	return errors.Join(errs...)
}

func isMissing(err error) bool {
	_, is := err.(*fs.PathError)
	return is
}
