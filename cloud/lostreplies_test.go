package cloud

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/conc/iter"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/emulatortest"
)

// losing is an object store that loses the replies to the next writes; left is how many.
func losing(t *testing.T, at emulatortest.Store) (url string, left *atomic.Int32) {
	left = new(atomic.Int32)
	lose := func(r *http.Request) bool { return r.Method == at.Write && left.Add(-1) >= 0 }
	return behind(t, at, "", emulatortest.Losing(lose)), left
}

// The client libraries repeat a request whose reply is lost.
func TestAWriteWhoseReplyIsLostIsRecognised(t *testing.T) {
	everywhere(t, aWriteWhoseReplyIsLostIsRecognised)
}

func aWriteWhoseReplyIsLostIsRecognised(t *testing.T, at emulatortest.Store) {
	ctx := context.Background()
	url, left := losing(t, at)
	s := open(t, url)
	left.Store(1)
	first, err := s.Write(ctx, "state", []byte("1"), store.IfAbsent())
	require.NoError(t, err)
	left.Store(2)
	second, err := s.Write(ctx, "state", []byte("2"), store.IfUnchanged(first))
	require.NoError(t, err)
	require.NotEqual(t, first.Revision, second.Revision)
	left.Store(1)
	_, err = s.Write(ctx, "state", []byte("3"), store.IfRevision(second.Revision))
	require.NoError(t, err)
	b, _, err := s.Read(ctx, "state")
	require.NoError(t, err)
	require.Equal(t, "3", string(b))
}

// A write of another process with the same content does not count as this process's own.
func TestAWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost(t *testing.T) {
	everywhere(t, aWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost)
}

func aWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost(t *testing.T, at emulatortest.Store) {
	ctx := context.Background()
	url, left := losing(t, at)
	ours, theirs := open(t, url), open(t, url)
	first, err := ours.Write(ctx, "state", []byte("1"), store.IfAbsent())
	require.NoError(t, err)
	_, err = theirs.Write(ctx, "state", []byte("2"), store.IfRevision(first.Revision))
	require.NoError(t, err)
	for _, c := range []store.Condition{store.IfRevision(first.Revision), store.IfAbsent()} {
		left.Store(1)
		_, err = ours.Write(ctx, "state", []byte("2"), c)
		require.ErrorIs(t, err, store.ErrConflict)
		left.Store(0)
		_, err = ours.Write(ctx, "state", []byte("2"), c)
		require.ErrorIs(t, err, store.ErrConflict)
	}
}

// When the client library gives up after several lost replies, the outcome is uncertain. The next write finds it out.
func TestAWriteThatWasReportedAsFailedIsNotAnotherWriter(t *testing.T) {
	everywhere(t, func(t *testing.T, at emulatortest.Store) {
		for name, before := range map[string]string{"a first write": "", "a replacement": "0"} {
			t.Run(name, func(t *testing.T) { aWriteThatWasReportedAsFailedIsNotAnotherWriter(t, at, before) })
		}
	})
}

func aWriteThatWasReportedAsFailedIsNotAnotherWriter(t *testing.T, at emulatortest.Store, before string) {
	ctx := context.Background()
	down := new(atomic.Bool)
	url := behind(t, at, "", emulatortest.Losing(func(*http.Request) bool { return down.Load() }))
	s := open(t, url)
	var last store.Info
	if before != "" {
		var err error
		last, err = s.Write(ctx, "state", []byte(before), store.IfAbsent())
		require.NoError(t, err)
	}
	down.Store(true)
	_, err := s.Write(ctx, "state", []byte("1"), store.IfUnchanged(last))
	require.Error(t, err, "the client library does not repeat it forever")
	require.NotErrorIs(t, err, store.ErrConflict, "nobody else has written")
	down.Store(false)
	_, err = s.Write(ctx, "state", []byte("2"), store.IfUnchanged(last))
	require.NoError(t, err)

	_, err = open(t, url).Write(ctx, "state", []byte("x"), store.IfUnchanged(last))
	require.ErrorIs(t, err, store.ErrConflict)
}

func TestOneOfManyWritesSucceedsWhenRepliesAreLost(t *testing.T) {
	everywhere(t, oneOfManyWritesSucceedsWhenRepliesAreLost)
}

func oneOfManyWritesSucceedsWhenRepliesAreLost(t *testing.T, at emulatortest.Store) {
	ctx := context.Background()
	sent := map[string]int{} // by the ID of the write
	s := open(t, behind(t, at, "", emulatortest.Losing(func(r *http.Request) bool {
		if r.Method != at.Write {
			return false
		}
		id := writeID(t, r)
		sent[id]++
		return sent[id] == 1
	})))
	before, err := s.Write(ctx, "atomic", []byte("0"), store.IfAbsent())
	require.NoError(t, err)
	var contents []string
	for i := range 20 {
		contents = append(contents, fmt.Sprint(100+i))
	}
	for key, c := range map[string]store.Condition{"fresh": store.IfAbsent(), "atomic": store.IfRevision(before.Revision)} {
		errs := iter.Mapper[string, error]{MaxGoroutines: len(contents)}.Map(contents, func(content *string) error {
			_, err := s.Write(ctx, key, []byte(*content), c)
			return err
		})
		won := -1
		for i, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, store.ErrConflict)
				continue
			}
			require.Negative(t, won, "%d and %d have won", won, i)
			won = i
		}
		require.GreaterOrEqual(t, won, 0, "nobody has won: %v", errs)
		b, _, err := s.Read(ctx, key)
		require.NoError(t, err)
		require.Equal(t, contents[won], string(b))
	}
}

// writeID returns the ID of a conditional write, which is among the metadata in the header or in the body.
func writeID(t *testing.T, r *http.Request) string {
	if id := r.Header.Get("X-Amz-Meta-Sluicewrite") + r.Header.Get("X-Ms-Meta-Sluicewrite"); id != "" {
		return id
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, after, found := bytes.Cut(body, []byte(`"sluicewrite":"`))
	require.True(t, found, "%s", body)
	id, _, _ := bytes.Cut(after, []byte(`"`))
	return string(id)
}

// A store that does not answer causes an error and no endless wait.
func TestAStoreThatIsDownIsAnError(t *testing.T) {
	everywhere(t, func(t *testing.T, at emulatortest.Store) {
		ctx := context.Background()
		down := new(atomic.Bool)
		s := open(t, behind(t, at, "", emulatortest.Cut(down.Load)))
		_, err := s.Write(ctx, "state", []byte("1"), store.Condition{})
		require.NoError(t, err)
		down.Store(true)
		for name, ask := range map[string]func() error{
			"read":  func() error { _, _, err := s.Read(ctx, "state"); return err },
			"list":  func() error { _, err := s.List(ctx, ""); return err },
			"write": func() error { _, err := s.Write(ctx, "state", []byte("2"), store.Condition{}); return err },
		} {
			err := ask()
			require.Error(t, err, name)
			require.NotErrorIs(t, err, store.ErrConflict, name)
			require.NotErrorIs(t, err, fs.ErrNotExist, name)
		}
		down.Store(false)
		b, _, err := s.Read(ctx, "state")
		require.NoError(t, err)
		require.Equal(t, "1", string(b))
	})
}

func TestALockWhoseReplyIsLostIsHeld(t *testing.T) {
	everywhere(t, aLockWhoseReplyIsLostIsHeld)
}

func aLockWhoseReplyIsLostIsHeld(t *testing.T, at emulatortest.Store) {
	ctx := context.Background()
	url, left := losing(t, at)
	s := open(t, url)
	left.Store(1)
	l, err := lock.Acquire(ctx, lock.Options{Store: s, Folder: "locks"})
	require.NoError(t, err)
	require.NoError(t, l.Release())
	held, err := lock.List(ctx, lock.Options{Store: s, Folder: "locks"})
	require.NoError(t, err)
	require.Empty(t, held)
}

// A lock that could not be taken leaves nothing behind that excludes others.
func TestALockThatWasNotTakenIsNotThere(t *testing.T) {
	everywhere(t, aLockThatWasNotTakenIsNotThere)
}

func aLockThatWasNotTakenIsNotThere(t *testing.T, at emulatortest.Store) {
	ctx := context.Background()
	down := new(atomic.Bool)
	s := open(t, behind(t, at, "", emulatortest.Losing(func(*http.Request) bool { return down.Load() })))
	_, err := lock.Acquire(ctx, lock.Options{Store: deafWriter{s, down}, Folder: "locks"})
	require.ErrorContains(t, err, "write the lock file")
	held, err := lock.List(ctx, lock.Options{Store: s, Folder: "locks"})
	require.NoError(t, err)
	require.Empty(t, held)
}

// deafWriter is a store whose network loses all replies during a write.
type deafWriter struct {
	store.Store
	down *atomic.Bool
}

func (w deafWriter) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	w.down.Store(true)
	defer w.down.Store(false)
	return w.Store.Write(ctx, key, content, c)
}
