package postgres

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/cuttest"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

// through starts a server and returns a connection with it, and the URLs of the database through the connection and beside it.
func through(t *testing.T) (line *cuttest.Connection, behind, direct string) {
	t.Helper()
	direct = postgrestest.Start(t)
	u, err := url.Parse(direct)
	require.NoError(t, err)
	line = cuttest.Connect(t, &net.UnixAddr{Net: "unix", Name: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")})
	return line, "postgres://sluice@" + line.Address() + "/postgres?sslmode=disable", direct
}

// calls are the calls of a store, each in a state in which it succeeds.
func calls(ctx context.Context, s *Store) map[string]func() error {
	return map[string]func() error{
		"read": func() error { _, _, err := s.Read(ctx, "there"); return err },
		"stat": func() error { _, err := s.Stat(ctx, "there"); return err },
		"list": func() error { _, err := s.List(ctx, ""); return err },
		"write": func() error {
			_, err := s.Write(ctx, "written", []byte("x"), store.Condition{})
			return err
		},
		"write under a condition": func() error {
			_, err := s.Write(ctx, "new", []byte("x"), store.IfAbsent())
			return err
		},
		"copy":   func() error { return s.Copy(ctx, "there", "copy") },
		"remove": func() error { return s.Remove(ctx, "gone") },
		"clock":  func() error { _, err := s.Now(ctx); return err },
		"hold": func() error {
			h, err := s.Exclude(ctx, "dev", "one")
			if err == nil {
				err = h.Close()
			}
			return err
		},
		"who holds": func() error { _, err := s.Holding(ctx, "prod"); return err },
		"end": func() error {
			return s.End(ctx, "prod", store.Session{ID: "1", Holder: "nobody"})
		},
		"make the table": func() error { return s.create(ctx) },
	}
}

func TestCallsWaitForAServerThatIsAway(t *testing.T) {
	ctx := context.Background()
	line, behind, _ := through(t)
	for kind, away := range map[string]func(){"refused": line.Refuse, "cut": line.Cut} {
		for name := range calls(ctx, nil) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := open(t, behind+"&table=t")
				require.NoError(t, s.Remove(ctx, "new"))
				_, err := s.Write(ctx, "there", []byte("1"), store.Condition{})
				require.NoError(t, err)
				away()
				var mending conc.WaitGroup
				mending.Go(func() { time.Sleep(300 * time.Millisecond); line.Mend() })
				defer mending.Wait()
				require.NoError(t, calls(ctx, s)[name]())
				require.True(t, s.outage.since.IsZero(), "the outage is over")
			})
		}
	}
}

// All calls together wait as long as one of them would.
func TestAServerThatStaysAwayIsWaitedForOnce(t *testing.T) {
	ctx := context.Background()
	line, behind, _ := through(t)
	s := open(t, behind)
	s.patience = 500 * time.Millisecond
	line.Refuse()
	_, _, err := s.Read(ctx, "there")
	require.ErrorAs(t, err, new(*pgconn.ConnectError))
	require.ErrorContains(t, err, "refused")
	require.GreaterOrEqual(t, time.Since(s.outage.since), s.patience)
	attempts := 0
	err = s.retry(ctx, func() error {
		attempts++
		return s.pool.Ping(ctx)
	})
	require.ErrorAs(t, err, new(*pgconn.ConnectError))
	require.Equal(t, 1, attempts)

	line.Mend()
	require.NoError(t, s.Remove(ctx, "there"))
	require.True(t, s.outage.since.IsZero(), "the next outage is waited for again")
}

func TestWaitingForAServerEndsWithTheContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	line, behind, _ := through(t)
	s := open(t, behind)
	line.Refuse()
	err := s.retry(ctx, func() error {
		stop()
		return s.pool.Ping(context.Background())
	})
	require.ErrorIs(t, err, context.Canceled)
}

// If no server has answered yet, the URL may be wrong. So may be a request that the server refuses.
func TestWhatDoesNotGetBetterIsNotRepeated(t *testing.T) {
	ctx := context.Background()
	line, behind, direct := through(t)
	s := open(t, direct)
	for name, ask := range map[string]func() error{
		"statement": func() error { _, err := s.pool.Exec(ctx, `SELECT nonsense`); return err },
		"role": func() error {
			_, err := Open(ctx, as(t, direct, "nobody"), nil)
			return err
		},
		"answer": func() error { return s.pool.QueryRow(ctx, `SELECT 1 WHERE false`).Scan(new(int)) },
	} {
		attempts := 0
		require.Error(t, s.retry(ctx, func() error { attempts++; return ask() }), name)
		require.Equal(t, 1, attempts, name)
	}
	line.Refuse()
	attempts := 0
	_, err := Open(ctx, behind, nil)
	require.ErrorContains(t, err, "refused")
	require.Error(t, s.retryWhile(ctx, isBusy, func() error { attempts++; return err }))
	require.Equal(t, 1, attempts)
}

// losing makes a connection lose the replies to the next statements with a text, as many as there are left.
func losing(line *cuttest.Connection, text string) (left *atomic.Int32) {
	left = new(atomic.Int32)
	line.Lose(func(request []byte) bool { return bytes.Contains(request, []byte(text)) && left.Add(-1) >= 0 })
	return left
}

func TestAWriteWhoseReplyIsLostIsRecognised(t *testing.T) {
	ctx := context.Background()
	line, behind, direct := through(t)
	s, beside := open(t, behind), open(t, direct)
	left := losing(line, "sluicewrite")
	_, err := s.Write(ctx, "state", []byte("0"), store.IfAbsent())
	require.NoError(t, err)
	require.NoError(t, s.Remove(ctx, "state"))

	left.Store(1)
	first, err := s.Write(ctx, "state", []byte("1"), store.IfAbsent())
	require.NoError(t, err)
	require.Negative(t, left.Load(), "it was sent again")
	info, err := beside.Stat(ctx, "state")
	require.NoError(t, err)
	require.Equal(t, info[0].Revision, first.Revision)
	require.Equal(t, info[0].Modified, first.Modified)
	require.EqualValues(t, 1, first.Size)

	left.Store(3)
	second, err := s.Write(ctx, "state", []byte("2"), store.IfUnchanged(first))
	require.NoError(t, err)
	require.NotEqual(t, first.Revision, second.Revision)
	_, err = s.Write(ctx, "state", []byte("3"), store.IfRevision(second.Revision))
	require.NoError(t, err)
	b, _, err := beside.Read(ctx, "state")
	require.NoError(t, err)
	require.Equal(t, "3", string(b))
}

// A write of another process with the same content does not count as this process's own.
func TestAWriteOfAnotherProcessIsAConflictAlsoWhenRepliesAreLost(t *testing.T) {
	ctx := context.Background()
	line, behind, direct := through(t)
	ours, theirs := open(t, behind), open(t, direct)
	first, err := ours.Write(ctx, "state", []byte("1"), store.IfAbsent())
	require.NoError(t, err)
	_, err = theirs.Write(ctx, "state", []byte("2"), store.IfRevision(first.Revision))
	require.NoError(t, err)
	left := losing(line, "sluicewrite")
	for _, c := range []store.Condition{store.IfRevision(first.Revision), store.IfAbsent()} {
		for _, lost := range []int32{1, 0} {
			left.Store(lost)
			_, err = ours.Write(ctx, "state", []byte("2"), c)
			require.ErrorIs(t, err, store.ErrConflict)
		}
	}
}

// If no reply arrives while the store waits, the outcome is uncertain. The next write finds it out.
func TestAWriteThatWasReportedAsFailedIsNotAnotherWriter(t *testing.T) {
	ctx := context.Background()
	line, behind, direct := through(t)
	s, theirs := open(t, behind), open(t, direct)
	before, err := s.Write(ctx, "state", []byte("0"), store.IfAbsent())
	require.NoError(t, err)
	s.patience = 0
	left := losing(line, "sluicewrite")
	left.Store(1)
	_, err = s.Write(ctx, "state", []byte("1"), store.IfRevision(before.Revision))
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrConflict)
	b, _, err := theirs.Read(ctx, "state")
	require.NoError(t, err)
	require.Equal(t, "1", string(b), "it has happened")

	s.patience = patience
	now, err := s.Write(ctx, "state", []byte("2"), store.IfRevision(before.Revision))
	require.NoError(t, err)
	_, err = theirs.Write(ctx, "state", []byte("3"), store.IfRevision(now.Revision))
	require.NoError(t, err)
	_, err = s.Write(ctx, "state", []byte("4"), store.IfRevision(now.Revision))
	require.ErrorIs(t, err, store.ErrConflict)
}

// A process that has taken a name without a reply is not another process.
func TestANameThatWasTakenWithoutAReplyIsTakenAgain(t *testing.T) {
	ctx := context.Background()
	line, behind, direct := through(t)
	s, other := open(t, behind), open(t, direct)
	left := losing(line, locking)
	left.Store(1)
	h, err := s.Exclude(ctx, "dev", "one")
	require.NoError(t, err)
	require.NotNil(t, h)
	require.Negative(t, left.Load())
	require.NoError(t, h.Alive(ctx))
	left.Store(0)
	require.NoError(t, h.Close())

	theirs, err := other.Exclude(ctx, "prod", "another")
	require.NoError(t, err)
	left.Store(1)
	h, err = s.Exclude(ctx, "prod", "one")
	require.NoError(t, err)
	require.Nil(t, h, "another process has it")
	require.NoError(t, theirs.Close())
}

// A lock outlives an outage that is shorter than its lease.
func TestALockOutlivesAnOutage(t *testing.T) {
	ctx := context.Background()
	line, behind, _ := through(t)
	s := open(t, behind)
	l, err := lock.Acquire(ctx, lock.Options{Store: s, Folder: "locks/dev", Every: 50 * time.Millisecond})
	require.NoError(t, err)
	line.Refuse()
	time.Sleep(time.Second)
	line.Mend()
	_, err = s.Write(ctx, "state", []byte("1"), store.IfAbsent())
	require.NoError(t, err)
	require.NoError(t, l.Check(ctx))
	require.NoError(t, l.Release())
	h, err := s.Exclude(ctx, "locks/dev", "next")
	require.NoError(t, err)
	require.NotNil(t, h)
	require.NoError(t, h.Close())
}

// The server ends a session some time after its connection has gone. A released name is free at once all the same.
func TestANameThatHasBeenGivenBackIsFree(t *testing.T) {
	ctx := context.Background()
	_, _, direct := through(t)
	s, other := open(t, direct), open(t, direct)
	for range 100 {
		h, err := s.Exclude(ctx, "dev", "one")
		require.NoError(t, err)
		require.NotNil(t, h)
		require.NoError(t, h.Close())
		s, other = other, s
	}
}
