package cloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/storetest"
)

// lossy carries out requests and loses the replies to some of them. It asks about one after the other.
type lossy struct {
	next http.Handler
	lose func(*http.Request) bool
	mu   sync.Mutex
}

func (l *lossy) loses(r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lose(r)
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.loses(r) {
		l.next.ServeHTTP(w, r)
		return
	}
	l.next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler) // closes the connection
}

// losing is an object store that loses the replies to the next writes, as many as there are left.
func losing(t *testing.T, at service) (url string, left *atomic.Int32) {
	left = new(atomic.Int32)
	lose := func(r *http.Request) bool { return r.Method == at.write && left.Add(-1) >= 0 }
	return at.behind(t, "", func(h http.Handler) http.Handler { return &lossy{next: h, lose: lose} }), left
}

// everywhere runs a test for each service.
func everywhere(t *testing.T, f func(t *testing.T, at service)) {
	for name, at := range services() {
		t.Run(name, func(t *testing.T) { f(t, at) })
	}
}

// Most client libraries repeat a request whose reply is lost.
func TestAWriteWhoseReplyIsLostIsRecognised(t *testing.T) {
	everywhere(t, aWriteWhoseReplyIsLostIsRecognised)
}

func aWriteWhoseReplyIsLostIsRecognised(t *testing.T, at service) {
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

// The write of another process with the same content is not taken for one's own.
func TestAWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost(t *testing.T) {
	everywhere(t, aWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost)
}

func aWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost(t *testing.T, at service) {
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
		require.Error(t, err)
		if at.repeats { // otherwise the first reply was the only one
			require.ErrorIs(t, err, store.ErrConflict)
		}
		left.Store(0)
		_, err = ours.Write(ctx, "state", []byte("2"), c)
		require.ErrorIs(t, err, store.ErrConflict)
	}
}

// After as many lost replies as the client library puts up with, nothing is known. The next write finds out.
func TestAWriteThatWasReportedAsFailedIsNotAnotherWriter(t *testing.T) {
	for name, before := range map[string]string{"a first write": "", "a replacement": "0"} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			down := new(atomic.Bool)
			url := s3Behind(t, "", func(h http.Handler) http.Handler {
				return &lossy{next: h, lose: func(*http.Request) bool { return down.Load() }}
			})
			s := open(t, url)
			var last store.Info
			if before != "" {
				var err error
				last, err = s.Write(ctx, "state", []byte(before), store.IfAbsent())
				require.NoError(t, err)
			}
			down.Store(true)
			_, err := s.Write(ctx, "state", []byte("1"), store.IfUnchanged(last))
			require.Error(t, err)
			require.NotErrorIs(t, err, store.ErrConflict, "nobody else has written")
			down.Store(false)
			_, err = s.Write(ctx, "state", []byte("2"), store.IfUnchanged(last))
			require.NoError(t, err)

			_, err = open(t, url).Write(ctx, "state", []byte("x"), store.IfUnchanged(last))
			require.ErrorIs(t, err, store.ErrConflict)
		})
	}
}

func TestOneOfManyWritesSucceedsWhenRepliesAreLost(t *testing.T) {
	storetest.RunAtomic(t, open(t, s3Behind(t, "", func(h http.Handler) http.Handler {
		return &lossy{next: h, lose: func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1")
		}}
	})))
}

func TestALockWhoseReplyIsLostIsHeld(t *testing.T) {
	everywhere(t, aLockWhoseReplyIsLostIsHeld)
}

func aLockWhoseReplyIsLostIsHeld(t *testing.T, at service) {
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

// What is left of a lock that could not be taken keeps nobody away.
func TestALockThatWasNotTakenIsNotThere(t *testing.T) {
	ctx := context.Background()
	const attempts = 3 // of the client library
	left := map[string]int{http.MethodPut: attempts, http.MethodHead: attempts}
	url := s3Behind(t, "", func(h http.Handler) http.Handler {
		return &lossy{next: h, lose: func(r *http.Request) bool {
			left[r.Method]--
			return left[r.Method] >= 0
		}}
	})
	s := open(t, url)
	_, err := lock.Acquire(ctx, lock.Options{Store: s, Folder: "locks"})
	require.ErrorContains(t, err, "write the lock file")
	held, err := lock.List(ctx, lock.Options{Store: s, Folder: "locks"})
	require.NoError(t, err)
	require.Empty(t, held)
}
