package lock

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
)

// faulty is a store that can be out of reach.
type faulty struct {
	Store
	away atomic.Bool
	then atomic.Pointer[func()] // is called after the next read
}

var errAway = errors.New("no route to the store")

func (f *faulty) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	if f.away.Load() {
		return nil, store.Info{}, errAway
	}
	b, info, err := f.Store.Read(ctx, key)
	if then := f.then.Swap(nil); then != nil {
		(*then)()
	}
	return b, info, err
}

// leased runs f in a bubble of virtual time, with a lock that is held there.
func leased(t *testing.T, f func(t *testing.T, o Options, s *faulty, l *Lock, lost func() error)) {
	t.Helper()
	o := options(t)
	synctest.Test(t, func(t *testing.T) {
		s := &faulty{Store: o.Store}
		o.Store = s
		var lost error
		o.OnLost = func(err error) { lost = err }
		o.Operation = "update"
		l, err := Acquire(context.Background(), o)
		require.NoError(t, err)
		f(t, o, s, l, func() error { synctest.Wait(); return lost })
		require.NoError(t, l.Release())
	})
}

func ownerOf(t *testing.T, o Options, l *Lock) Owner {
	t.Helper()
	b, _, err := o.Store.Read(context.Background(), l.key)
	require.NoError(t, err)
	var owner Owner
	require.NoError(t, json.Unmarshal(b, &owner))
	return owner
}

func TestLeaseSaysWhoHoldsTheLockAndIsRenewed(t *testing.T) {
	leased(t, func(t *testing.T, o Options, _ *faulty, l *Lock, lost func() error) {
		first := ownerOf(t, o, l)
		require.Equal(t, "update", first.Lease.Operation)
		require.Equal(t, l.Run(), first.Lease.Run)
		require.Equal(t, 60, first.Lease.Seconds)
		require.NotZero(t, first.PID)
		time.Sleep(10 * time.Minute)
		require.NoError(t, lost())
		require.NoError(t, l.Check(context.Background()))
		now := ownerOf(t, o, l)
		require.GreaterOrEqual(t, now.Lease.Renewed.Sub(first.Lease.Renewed), 9*time.Minute)
		now.Lease.Renewed = first.Lease.Renewed
		require.Equal(t, first, now, "nothing else changes")
	})
}

// breakAll removes all locks, whoever has them.
func breakAll(t *testing.T, o Options) int {
	held, err := List(context.Background(), o)
	require.NoError(t, err)
	n, err := Remove(context.Background(), o, held)
	require.NoError(t, err)
	return n
}

func TestBrokenLockIsLost(t *testing.T) {
	for name, brk := range map[string]func(t *testing.T, o Options, l *Lock){
		"it has been removed": func(t *testing.T, o Options, _ *Lock) {
			breakAll(t, o)
		},
		"it has been removed and another one taken": func(t *testing.T, o Options, _ *Lock) {
			breakAll(t, o)
			put(t, o, "other.json", "{}")
		},
		"somebody else has written": func(t *testing.T, o Options, l *Lock) {
			_, err := o.Store.Write(context.Background(), l.key, []byte(`{"pid":1}`), store.Condition{})
			require.NoError(t, err)
		},
		"there is another lock": func(t *testing.T, o Options, _ *Lock) { put(t, o, "other.json", "{}") },
	} {
		t.Run(name, func(t *testing.T) {
			leased(t, func(t *testing.T, o Options, _ *faulty, l *Lock, lost func() error) {
				brk(t, o, l)
				time.Sleep(30 * time.Second)
				var gone *LostError
				require.ErrorAs(t, lost(), &gone)
				require.ErrorContains(t, gone, "no further operation is started")
				require.Equal(t, error(gone), l.Check(context.Background()))
			})
		})
	}
}

func TestALockThatIsBrokenDuringARenewalIsLost(t *testing.T) {
	leased(t, func(t *testing.T, o Options, s *faulty, l *Lock, lost func() error) {
		breaks := func() { require.NoError(t, s.Store.Remove(context.Background(), l.key)) }
		s.then.Store(&breaks)
		time.Sleep(30 * time.Second)
		require.ErrorContains(t, lost(), "somebody else has removed or written the lock file")
		_, _, err := s.Store.Read(context.Background(), l.key)
		require.ErrorIs(t, err, fs.ErrNotExist, "the renewal does not write it again")
	})
}

func TestLockSurvivesAStoreThatIsAwayForAShortTime(t *testing.T) {
	leased(t, func(t *testing.T, _ Options, s *faulty, l *Lock, lost func() error) {
		s.away.Store(true)
		time.Sleep(40 * time.Second)
		require.NoError(t, lost())
		s.away.Store(false)
		time.Sleep(10 * time.Minute)
		require.NoError(t, lost())
		require.NoError(t, l.Check(context.Background()))
	})
}

func TestLockThatCannotBeRenewedInTimeIsLost(t *testing.T) {
	leased(t, func(t *testing.T, _ Options, s *faulty, l *Lock, lost func() error) {
		s.away.Store(true)
		time.Sleep(2 * time.Minute)
		require.ErrorContains(t, lost(), errAway.Error())
		s.away.Store(false)
		require.Error(t, l.Check(context.Background()), "what is lost stays lost")
	})
}

// excluding is a store whose hold is always free: any previous holder has lost it.
type excluding struct {
	Store
	now time.Time
}

func (e excluding) Exclude(context.Context, string, string) (store.Hold, error) { return noHold{}, nil }
func (e excluding) Holding(context.Context, string) (*store.Session, error)     { return nil, nil }
func (e excluding) End(context.Context, string, store.Session) error            { return nil }
func (e excluding) Now(context.Context) (time.Time, error)                      { return e.now, nil }

type noHold struct{}

func (noHold) Alive(context.Context) error { return nil }
func (noHold) Close() error                { return nil }

// restarted is a store whose connections end when its server does.
type restarted struct {
	Store
	session, refusing atomic.Int64 // refusing counts the refusals because of another process
	open              atomic.Int64 // holds of the present session that were not released
}

func (r *restarted) Exclude(context.Context, string, string) (store.Hold, error) {
	if r.refusing.Add(-1) >= 0 {
		return nil, nil
	}
	r.open.Store(1)
	return sessionHold{r, r.session.Load()}, nil
}

func (r *restarted) Holding(context.Context, string) (*store.Session, error) { return nil, nil }
func (r *restarted) End(context.Context, string, store.Session) error        { return nil }
func (r *restarted) Now(context.Context) (time.Time, error)                  { return time.Now(), nil }

type sessionHold struct {
	server *restarted
	began  int64
}

func (h sessionHold) Alive(context.Context) error {
	if h.began != h.server.session.Load() {
		return errAway
	}
	return nil
}

func (h sessionHold) Close() error {
	if h.began == h.server.session.Load() {
		h.server.open.Store(0)
	}
	return nil
}

func TestLockSurvivesARestartOfTheServerThatHoldsIt(t *testing.T) {
	for name, c := range map[string]struct {
		refusing int64
		lost     bool
	}{
		"at once":                        {0, false},
		"the server has not noticed yet": {2, false},
		"somebody else has it":           {1000, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			synctest.Test(t, func(t *testing.T) {
				s := &restarted{Store: o.Store}
				o.Store = s
				var lost error
				o.OnLost = func(err error) { lost = err }
				l, err := Acquire(context.Background(), o)
				require.NoError(t, err)
				s.refusing.Store(c.refusing)
				s.session.Add(1)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				require.Equal(t, c.lost, lost != nil, lost)
				require.Equal(t, c.lost, l.Check(context.Background()) != nil)
				if c.lost {
					require.ErrorContains(t, lost, errAway.Error())
				}
				require.NoError(t, l.Release())
			})
		})
	}
}

// `cancel` ends the session that holds a lock and removes the lock file right after that. If the holder has taken the name
// again in between, it releases it, so that the lock is free.
func TestAHoldThatWasTakenAgainIsGivenBackWhenTheLockIsLost(t *testing.T) {
	o := options(t)
	synctest.Test(t, func(t *testing.T) {
		s := &restarted{Store: o.Store}
		o.Store = s
		l, err := Acquire(context.Background(), o)
		require.NoError(t, err)
		s.session.Add(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoError(t, l.Check(context.Background()))
		require.EqualValues(t, 1, s.open.Load())
		require.NoError(t, s.Remove(context.Background(), l.key))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.ErrorContains(t, l.Check(context.Background()), "somebody has removed the lock file")
		require.Zero(t, s.open.Load())
		require.NoError(t, l.Release())
	})
}

func TestStoreThatExcludesLeavesLocksOfOtherMachinesUntilTheirLeaseIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		after   time.Duration
		taken   bool
	}{
		"lease is over": {`{"hostname":"other","tool":"sluice","lease":{"run":"r","seconds":60}}`, 2 * time.Minute, true},
		"the holder's clock says otherwise": {`{"hostname":"other","tool":"sluice","lease":{"run":"r","renewed":"2999-01-02T03:04:05Z","seconds":60}}`,
			2 * time.Minute, false},
		"lease is not over":   {`{"hostname":"other","tool":"sluice","lease":{"run":"r","seconds":60}}`, 30 * time.Second, false},
		"no lease":            {`{"hostname":"other","tool":"sluice"}`, time.Hour, false},
		"another tool's lock": {`{"hostname":"other"}`, time.Hour, false},
		"unreadable":          {`{`, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			put(t, o, "stale.json", c.content)
			o.Store = excluding{o.Store, time.Now().Add(c.after)}
			l, err := Acquire(context.Background(), o)
			if !c.taken {
				var held *HeldError
				require.ErrorAs(t, err, &held)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.Release())
		})
	}
}

// setBack is a machine whose clock is set back.
type setBack struct {
	thisMachine
	by atomic.Int64
}

func (s *setBack) Now() time.Time { return time.Now().Add(-time.Duration(s.by.Load())) }

func TestClockThatIsSetBackMakesNoLeaseLonger(t *testing.T) {
	o := options(t)
	synctest.Test(t, func(t *testing.T) {
		s, m := &faulty{Store: o.Store}, &setBack{}
		o.Store, o.Machine = s, m
		l, err := Acquire(context.Background(), o)
		require.NoError(t, err)
		s.away.Store(true)
		m.by.Store(int64(time.Hour))
		time.Sleep(2 * time.Minute)
		var lost *LostError
		require.ErrorAs(t, l.Check(context.Background()), &lost)
		s.away.Store(false)
		require.NoError(t, l.Release())
	})
}
