package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/testing/servicetest"
)

// faultyOperation records that a resource was made, and returns whether that was done, the number of events, and the error.
func faultyOperation(t *testing.T, s *stack, name string) (done bool, events int, err error) {
	return faultyOperationDuring(t, s, name, func() {})
}

// faultyOperationDuring calls meanwhile while the resource is being made.
func faultyOperationDuring(t *testing.T, s *stack, name string, meanwhile func()) (done bool, events int, err error) {
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "update"})
	if err != nil {
		return false, 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	run, err := s.Begin(ctx, backend.Operation{Kind: "update"})
	if err != nil {
		return false, 0, err
	}
	defer func() { err = errors.Join(err, run.End(ctx, backend.Update{Result: backend.ResultSucceeded})) }()
	base, err := s.Load(ctx)
	if err != nil {
		return false, 0, err
	}
	r, err := s.Record(ctx, base)
	if err != nil {
		return false, 0, err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	for events < 3*eventBatch {
		events++
		_, err := fmt.Fprintf(run.Events(), "{\"sequence\":%d,\"timestamp\":1,\"stdoutEvent\":{\"message\":\"%d\"}}\n", events, events)
		require.NoError(t, err)
	}
	begun := safe(name, 1)
	if err := r.Begin(ctx, state.Pending{Type: state.Creating, Resource: begun}); err != nil {
		return false, events, err
	}
	meanwhile()
	err = r.End(ctx, state.Change{Begun: begun, Add: begun})
	return err == nil, events, err
}

// With any fault in any call of an operation, its changes are in the state exactly once, at the latest after the next command, and the next operation
// works. Calls that may be repeated are, so that most faults only cost time.
func TestFaultsLoseNothing(t *testing.T) {
	modes := []servicetest.Options{{Journal: true, Batch: true}, {Delta: true}, {}}
	faults := []struct {
		name   string
		fault  servicetest.Fault
		passes func(once bool) bool // the operation succeeds; once is set for calls that must not be repeated
	}{
		{"500", servicetest.Fault{Status: 500, Times: 1}, func(once bool) bool { return !once }},
		{"429", servicetest.Fault{Status: 429, Times: 2, RetryAfter: "0"}, func(bool) bool { return true }},
		{"409", servicetest.Fault{Status: 409, Times: 1}, nil},
		{"cut", servicetest.Fault{Times: 1}, func(once bool) bool { return !once }},
		{"cut and done", servicetest.Fault{Times: 1, Done: true}, func(once bool) bool { return !once }},
		{"cut and done later", servicetest.Fault{Times: 1, Done: true, Delay: 150}, func(once bool) bool { return !once }},
		{"slow", servicetest.Fault{Times: 1, Delay: 150}, func(bool) bool { return true }},
		{"away", servicetest.Fault{Status: 503}, nil},
	}
	calls := []struct {
		call string
		once bool
	}{
		{"POST dev/update", true}, {"POST /update/0", true}, {"POST renew_lease", false}, {"POST events/batch", false}, {"POST complete", false},
		{"GET export", false}, {"GET demo/dev", false}, {"PATCH update/", false}, {"POST encrypt", false}, {"GET capabilities", false},
	}
	for i, f := range faults {
		for j, c := range calls {
			t.Run(f.name+" "+c.call, func(t *testing.T) {
				t.Parallel()
				server, b := open(t, modes[(i+j)%len(modes)], func(o *Options) { o.Renew = 10 * time.Millisecond })
				s := made(t, b)
				done, _, err := faultyOperation(t, s, "before")
				require.NoError(t, err)
				require.True(t, done)

				fault := f.fault // each call has its own
				fault.Call = c.call
				var struck atomic.Int32
				fault.Struck = func() { struck.Add(1) }
				server.Inject(fault)
				done, events, err := faultyOperationDuring(t, s, "meanwhile", func() {
					if c.call == "POST renew_lease" {
						require.Eventually(t, func() bool { return int(struck.Load()) >= max(1, f.fault.Times) }, 5*time.Minute, time.Millisecond)
					}
				})
				if f.passes != nil && f.passes(c.once) {
					require.NoError(t, err)
					require.Len(t, server.Events("alice/demo/dev"), events)
				}
				if err == nil {
					require.True(t, done)
				}
				if left := server.Heal(); c.call != "GET capabilities" { // not every service is asked for them
					require.Zero(t, left)
				}

				later, err := Open(t.Context(), b.core.options) // as the next command does
				require.NoError(t, err)
				defer func() { require.NoError(t, later.Close()) }()
				opened, err := later.Open(t.Context(), s.subject.Ref())
				require.NoError(t, err)
				again := opened.(*stack).WithSecrets(later.DefaultSecrets(s.subject.Ref())).(*stack)
				after, _, err := faultyOperation(t, again, "after")
				require.NoError(t, err)
				require.True(t, after)
				want := &state.Snapshot{Resources: []*state.Resource{safe("before", 1), safe("after", 1)}}
				if done {
					want.Resources = append(want.Resources, safe("meanwhile", 1))
				}
				snapshot, err := again.Load(t.Context())
				require.NoError(t, err)
				got := described(t, snapshot)
				if !done { // it may have begun
					got = slices.DeleteFunc(got, func(text string) bool { return text == "creating meanwhile" })
				}
				require.Equal(t, described(t, want), got)
			})
		}
	}
}

// A lease that could not be renewed during its duration is lost, although the service does not report it, and although calls are repeated for longer.
// Another process may have it then: the changes of the first do not overwrite those of the other.
func TestALeaseThatIsTakenByAnotherBeginsNothingMore(t *testing.T) {
	server, b := open(t, servicetest.Options{Journal: true, Lease: time.Second}, func(o *Options) {
		o.Patience, o.Lease, o.Renew = time.Minute, time.Second, 10*time.Millisecond
	})
	s := made(t, b)
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{})
	require.NoError(t, err)
	lost := await.NewPromise[error]()
	run, err := s.Begin(ctx, backend.Operation{Kind: "update", OnLost: func(err error) { lost.Resolve(err) }})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	begun := safe("one", 0)
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: begun}))
	server.Inject(servicetest.Fault{Call: "POST renew_lease", Status: 503})
	why, err := lost.Wait(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, why, errNotRenewed)
	require.ErrorAs(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: safe("two", 0)}), new(*LeaseError))
	server.Heal()

	o := b.core.options
	o.Home = t.TempDir() // another machine
	other, err := Open(ctx, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	opened, err := other.Open(ctx, s.subject.Ref())
	require.NoError(t, err)
	theirs := opened.(*stack).WithSecrets(other.DefaultSecrets(s.subject.Ref())).(*stack)
	require.Eventually(t, func() bool { // when the lease is over for the service, too
		done, _, err := faultyOperation(t, theirs, "theirs")
		if busy := (&BusyError{}); err != nil && !errors.As(err, &busy) {
			require.NoError(t, err)
		}
		return done
	}, 5*time.Minute, 50*time.Millisecond)

	require.NoError(t, r.End(ctx, state.Change{Begun: begun, Add: begun}))
	require.ErrorAs(t, r.Close(ctx), new(*UnsentError))
	require.NoError(t, run.End(ctx, backend.Update{Result: backend.ResultFailed}))
	require.NoError(t, l.Close())
	_, err = s.Lock(ctx, backend.LockOptions{})
	require.ErrorAs(t, err, new(*OvertakenError))
	snapshot, err := theirs.Load(ctx)
	require.NoError(t, err)
	got := described(t, snapshot)
	require.NotEmpty(t, got)
	require.Contains(t, got[len(got)-1], "theirs")
}

// A running update learns of its cancellation when it renews its lease, even without other calls.
func TestARenewalTellsOfACancellation(t *testing.T) {
	server, b := open(t, servicetest.Options{Journal: true}, func(o *Options) { o.Renew = 10 * time.Millisecond })
	s := made(t, b)
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{})
	require.NoError(t, err)
	lost := await.NewPromise[error]()
	_, err = s.Begin(ctx, backend.Operation{Kind: "update", OnLost: func(err error) { lost.Resolve(err) }})
	require.NoError(t, err)
	held, err := s.Locks(ctx)
	require.NoError(t, err)
	server.Calls()
	n, err := s.BreakLocks(ctx, held[:1])
	require.NoError(t, err)
	require.Equal(t, 1, n)
	why, err := lost.Wait(ctx)
	require.NoError(t, err)
	require.ErrorAs(t, why, new(*LeaseError))
	require.NoError(t, l.Close())
	refused := 0
	for _, c := range server.Calls() {
		if c.Status == 403 {
			require.Contains(t, c.Path, "renew_lease")
			refused++
		}
	}
	require.Equal(t, 1, refused)
}

// An environment whose definition is not sent, because of an interruption by the user, is removed.
func TestAnEnvironmentThatIsInterruptedIsRemoved(t *testing.T) {
	server, b := open(t, servicetest.Options{}, nil)
	for _, call := range []string{"POST environments", "PATCH environments"} {
		ctx, interrupt := context.WithCancelCause(t.Context())
		server.Inject(servicetest.Fault{Call: call, Delay: 200, Struck: func() { interrupt(errors.New("interrupted")) }})
		require.ErrorContains(t, b.CreateEnvironment(ctx, "alice", "demo/dev", []byte("values: {}")), "the environment alice/demo/dev was not made: interrupted")
		server.Heal()
	}
	require.NoError(t, b.CreateEnvironment(t.Context(), "alice", "demo/dev", []byte("values: {}")))
	require.ErrorContains(t, b.CreateEnvironment(t.Context(), "alice", "demo/dev", []byte("values: {}")), "there is an environment alice/demo/dev already")
}

// A slow service is not away: an unusable environment is removed however long that takes, unless the user interrupts it.
func TestAnEnvironmentIsRemovedHoweverSlowTheServiceIs(t *testing.T) {
	t.Parallel() // it waits
	server, b := open(t, servicetest.Options{}, nil)
	server.Inject(servicetest.Fault{Call: "PATCH environments", Status: 403})
	server.Inject(servicetest.Fault{Call: "DELETE environments", Delay: int((undoTime + time.Second/2) / time.Millisecond)})
	err := b.CreateEnvironment(t.Context(), "alice", "demo/dev", []byte("values: {}"))
	require.ErrorContains(t, err, "the environment alice/demo/dev was not made: ")
	server.Heal()
	require.NoError(t, b.CreateEnvironment(t.Context(), "alice", "demo/dev", []byte("values: {}")))
}

// Files beside a working copy that a process left when it was killed during the write of a mark are removed with the
// working copy.
func TestLeftoversOfKilledWritesAreRemoved(t *testing.T) {
	_, b := open(t, servicetest.Options{}, nil)
	s := made(t, b)
	c, err := b.core.copyOf(t.Context(), s.subject.Ref())
	require.NoError(t, err)
	for _, key := range []string{c.unsentKey(), shelterKey} {
		left := c.copies.dir.Path(key) + ".97455188-3529-4a78-a94c-81ea6dca24b2.tmp"
		require.NoError(t, os.MkdirAll(filepath.Dir(left), 0o700))
		require.NoError(t, os.WriteFile(left, []byte("{"), 0o600))
		l, err := s.Lock(t.Context(), backend.LockOptions{})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoFileExists(t, left)
	}
}
