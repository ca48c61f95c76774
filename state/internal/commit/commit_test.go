package commit

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// log is a recorder that takes a second for each write.
type log struct {
	mu      sync.Mutex
	group   *Group
	queue   []int
	written [][]int
	fault   func() error
}

func newLog() *log {
	l := &log{fault: func() error { return nil }}
	l.group = New(&l.mu)
	return l
}

func (l *log) record() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.group.Err(); err != nil {
		return err
	}
	n := l.group.Add()
	l.queue = append(l.queue, n)
	return l.group.Flush(n, l.take)
}

func (l *log) take() Batch {
	queue := l.queue
	l.queue = nil
	return Batch{
		Write: func() error { time.Sleep(time.Second); return l.fault() },
		End: func(err error) error {
			if err == nil {
				l.written = append(l.written, queue)
			}
			return err
		},
	}
}

func TestRecordsThatComeDuringAWriteShareTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		began := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { require.NoError(t, l.record()) })
			synctest.Wait()
		}
		wg.Wait()
		require.Equal(t, [][]int{{1}, {2, 3, 4, 5, 6, 7, 8, 9, 10}}, l.written)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Equal(t, 10, l.group.Added())
	})
}

func TestFailedWriteEndsTheGroup(t *testing.T) {
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		fault func() error
		want  error
	}{
		"error": {func() error { return bad }, bad},
		"panic": {func() error { panic("boom") }, ErrPanicked},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				l.fault = c.fault
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { _ = recover() }()
					require.Equal(t, c.want, l.record())
				})
				synctest.Wait()
				for range 3 {
					wg.Go(func() { require.Equal(t, c.want, l.record()) })
				}
				wg.Wait()
				require.Empty(t, l.written)
				require.Equal(t, c.want, l.record(), "and whoever comes later")
			})
		})
	}
}

func TestWaitLastsUntilNobodyWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { require.NoError(t, l.record()) })
		synctest.Wait()
		l.mu.Lock()
		l.group.Wait()
		l.mu.Unlock()
		require.Equal(t, time.Second, time.Since(began))
		wg.Wait()
	})
}

func TestTheFirstErrorIsTheOneThatEveryoneGets(t *testing.T) {
	l := newLog()
	l.mu.Lock()
	defer l.mu.Unlock()
	first := errors.New("first")
	l.group.Fail(first)
	l.group.Fail(errors.New("second"))
	require.Equal(t, first, l.group.Err())
	require.Equal(t, first, l.group.Flush(1, l.take))
}
