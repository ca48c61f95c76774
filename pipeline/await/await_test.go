package await

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errBad = errors.New("bad")

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestPromiseIsDecidedByTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPromise[int]()
		require.False(t, p.Decided())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				v, err := p.Wait(t.Context())
				require.NoError(t, err)
				require.Equal(t, 7, v)
			})
		}
		synctest.Wait()
		require.True(t, p.Resolve(7))
		require.False(t, p.Resolve(8))
		require.False(t, p.Fail(errBad))
		p.Reject(errBad)
		wg.Wait()
		require.True(t, p.Decided())
	})
}

func TestFailedPromiseGivesItsError(t *testing.T) {
	p := NewPromise[string]()
	p.Reject(errBad)
	require.False(t, p.Resolve("late"))
	v, err := p.Wait(t.Context())
	require.Equal(t, errBad, err)
	require.Empty(t, v)
}

func TestALockForWritingExcludesReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewRWLock()
		var mu sync.Mutex // guards log
		var log []string
		var wg sync.WaitGroup
		hold := func(after time.Duration, name string, lock, unlock func()) {
			wg.Go(func() {
				time.Sleep(after)
				lock()
				mu.Lock()
				log = append(log, name)
				mu.Unlock()
				time.Sleep(10 * time.Second)
				unlock()
			})
		}
		hold(1*time.Second, "first reader", l.RLock, l.RUnlock)
		hold(2*time.Second, "second reader", l.RLock, l.RUnlock)
		hold(3*time.Second, "writer", l.Lock, l.Unlock)
		hold(4*time.Second, "late reader", l.RLock, l.RUnlock)
		time.Sleep(5 * time.Second)
		require.False(t, l.TryLock())
		mu.Lock()
		require.Equal(t, []string{"first reader", "second reader"}, log)
		mu.Unlock()
		wg.Wait()
		require.Equal(t, []string{"first reader", "second reader", "writer", "late reader"}, log)
		require.True(t, l.TryLock())
		require.False(t, l.TryLock())
	})
}

func TestWaitingEndsWithTheCauseOfTheContext(t *testing.T) {
	why := errors.New("enough")
	for name, wait := range map[string]func(context.Context) error{
		"promise": func(ctx context.Context) error { _, err := NewPromise[int]().Wait(ctx); return err },
		"event":   func(ctx context.Context) error { return NewEvent().Wait(ctx) },
		"slots": func(ctx context.Context) error {
			s := NewSlots(1)
			if err := s.Acquire(ctx); err != nil {
				return err
			}
			return s.Acquire(ctx)
		},
		"flight": func(ctx context.Context) error {
			var f Flight[string, int]
			f.calls = map[string]*flying[int]{"k": {NewPromise[int](), t.Context()}}
			_, err := f.Do(ctx, "k", nil)
			return err
		},
		"mailbox": func(ctx context.Context) error {
			if _, ok := NewMailbox[int]().Take(ctx); ok {
				return nil
			}
			return context.Cause(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(why) })
				require.Equal(t, why, wait(ctx))
			})
		})
	}
}

func TestWhatIsThereIsGivenEvenWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, e, m := NewPromise[int](), NewEvent(), NewMailbox[int]()
	p.Resolve(1)
	e.Fire()
	e.Fire()
	m.Put(2)
	v, err := p.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, v)
	require.NoError(t, e.Wait(ctx))
	require.True(t, e.Fired())
	v, ok := m.Take(ctx)
	require.True(t, ok)
	require.Equal(t, 2, v)
	require.ErrorIs(t, NewSlots(1).Acquire(ctx), context.Canceled, "but a slot is for new work")
	require.ErrorIs(t, NewSlots(0).Acquire(ctx), context.Canceled)
}

func TestSlotsLetAtMostTheirNumberIn(t *testing.T) {
	for name, c := range map[string]struct{ slots, most int }{"three": {3, 3}, "no limit": {0, 20}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewSlots(c.slots)
				var inside, most atomic.Int64
				var wg sync.WaitGroup
				for range 20 {
					wg.Go(func() {
						require.NoError(t, s.Acquire(t.Context()))
						defer s.Release()
						most.Store(max(most.Load(), inside.Add(1)))
						time.Sleep(time.Second)
						inside.Add(-1)
					})
				}
				wg.Wait()
				require.EqualValues(t, c.most, most.Load())
			})
		})
	}
}

func TestSlotsServeWaitersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1)
		require.NoError(t, s.Acquire(t.Context()))
		var order []int
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				require.NoError(t, s.Acquire(t.Context()))
				order = append(order, i) // the slot is the lock
				s.Release()
			})
			synctest.Wait()
		}
		s.Release()
		wg.Wait()
		require.Equal(t, upTo(10), order)
	})
}

func TestReleaseOfWhatWasNotTakenPanics(t *testing.T) {
	require.Panics(t, func() { NewSlots(1).Release() })
}

func TestMailboxKeepsTheOrderAndEndsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMailbox[int]()
		var got []int
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				v, ok := m.Take(t.Context())
				if !ok {
					return
				}
				got = append(got, v)
			}
		})
		for i := range 1000 {
			require.True(t, m.Put(i))
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		m.Close()
		m.Close()
		require.False(t, m.Put(1000))
		wg.Wait()
		require.Equal(t, upTo(1000), got)
		require.Zero(t, len(m.items)-m.first)
	})
}

func TestMailboxLosesNothingBetweenManyTakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMailbox[int]()
		var sum, count atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					// Some takers give up now and then, which must not lose a wake-up.
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					v, ok := m.Take(ctx)
					gaveUp := !ok && ctx.Err() != nil
					cancel()
					if gaveUp {
						continue
					}
					if !ok {
						return
					}
					sum.Add(int64(v))
					count.Add(1)
				}
			})
		}
		for i := range 500 {
			m.Put(i)
			time.Sleep(time.Duration(i%3) * time.Millisecond)
		}
		m.Close()
		wg.Wait()
		require.EqualValues(t, 500, count.Load())
		require.EqualValues(t, 499*500/2, sum.Load())
	})
}

func TestLongLivedMailboxKeepsNoRoomForTakenValues(t *testing.T) {
	m := NewMailbox[int]()
	m.Put(-1)
	for i := range 100_000 { // never empty
		m.Put(i)
		_, ok := m.Take(t.Context())
		require.True(t, ok)
	}
	require.Equal(t, 1, len(m.items)-m.first)
	require.Less(t, cap(m.items), 1000)
}

func TestMailboxWakesATakerForEveryValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMailbox[int]()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, ok := m.Take(t.Context())
				require.True(t, ok)
			})
		}
		synctest.Wait()
		for i := range 3 {
			m.Put(i)
		}
		wg.Wait() // a taker that is not woken makes the bubble deadlock
	})
}

// Two takers have found the mailbox empty and are about to wait when two values come: the one token must wake the first
// taker, and the first's taking must wake the second.
func TestMailboxTokenIsPassedOnWhileThereIsMore(t *testing.T) {
	m := NewMailbox[int]()
	m.Put(1)
	m.Put(2)
	for want := range 2 {
		select {
		case <-m.Ready():
		default:
			t.Fatal("a taker sleeps although there is something to take")
		}
		v, ok := m.TryTake()
		require.True(t, ok)
		require.Equal(t, want+1, v)
	}
	_, ok := m.TryTake()
	require.False(t, ok)
}
