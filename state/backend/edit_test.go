package backend

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
)

// editOf returns to as an edit of the snapshot that now was loaded from.
func editOf(now, to *state.Snapshot) *state.Snapshot {
	if now == nil {
		return to
	}
	next := *now
	next.Manifest, next.SecretsProvider, next.Resources, next.Pending = to.Manifest, to.SecretsProvider, to.Resources, to.Pending
	return &next
}

// edit makes a state the stack's state, as a state command does.
func edit(s Stack, to *state.Snapshot) (err error) {
	ctx := context.Background()
	l, err := s.Lock(ctx, LockOptions{Operation: "state"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	now, err := s.LoadSealed(ctx)
	if err != nil {
		return err
	}
	return s.Save(ctx, editOf(now, to))
}

// mustEdit is edit that succeeds.
func mustEdit(t testing.TB, s Stack, to *state.Snapshot) {
	t.Helper()
	require.NoError(t, edit(s, to))
}

func mustOpen(t testing.TB, b *File, ref Ref) Stack {
	t.Helper()
	s, err := b.Open(context.Background(), ref)
	require.NoError(t, err)
	return s
}

func mustLock(t testing.TB, s Stack) Lock {
	t.Helper()
	l, err := s.Lock(context.Background(), LockOptions{})
	require.NoError(t, err)
	return l
}

// breakLocks breaks the lock, whoever holds it, as `sluice cancel` does in another process.
func breakLocks(t testing.TB, s Stack) {
	t.Helper()
	held, err := s.Locks(context.Background())
	require.NoError(t, err)
	n, err := s.BreakLocks(context.Background(), held)
	require.NoError(t, err)
	require.Positive(t, n)
}

// recordThing makes an object and records it, as an update of another process does.
func recordThing(t testing.TB, s Stack, name string) {
	t.Helper()
	ctx := context.Background()
	l := mustLock(t, s)
	r, err := s.Record(ctx, mustLoad(t, s))
	require.NoError(t, err)
	op := creating(name)
	require.NoError(t, r.Begin(ctx, op))
	require.NoError(t, r.End(ctx, state.Change{Begun: op.Resource, Add: op.Resource}))
	require.NoError(t, r.Close(ctx))
	require.NoError(t, l.Close())
}

// ids are the resources of a stack.
func ids(t testing.TB, s Stack) []string {
	t.Helper()
	all := []string{}
	for _, r := range mustLoad(t, s).Resources {
		all = append(all, r.ID)
	}
	return all
}

// forget returns s without one of its resources, as `sluice state delete` makes it.
func forget(t testing.TB, s *state.Snapshot, name string) *state.Snapshot {
	t.Helper()
	r, err := state.FindOne(s, name)
	require.NoError(t, err)
	now, _, err := state.Delete(s, []*state.Resource{r}, state.DeleteOptions{})
	require.NoError(t, err)
	return now
}

// An edit without the lock, or of a state that the stack no longer has, would lose the records of others.
func TestAnEditNeedsTheLockAndThePresentState(t *testing.T) {
	ctx := context.Background()
	isStale := func(made bool) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			var stale *StaleStateError
			require.ErrorAs(t, err, &stale)
			require.Equal(t, made, stale.Made)
			require.Equal(t, dev, stale.Ref)
			require.ErrorContains(t, err, "dev.json")
			require.ErrorContains(t, err, "load the state of stack organization/shop/dev again under its lock, and repeat the change")
		}
	}
	isNotLocked := func(t *testing.T, err error) {
		var refused *NotLockedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, NotLockedError{Ref: dev}, *refused)
	}
	isLost := func(t *testing.T, err error) { require.ErrorAs(t, err, new(*lock.LostError)) }
	for name, c := range map[string]struct {
		save func(t *testing.T, ours, theirs Stack) error
		is   func(*testing.T, error)
		want []string
	}{
		"without the lock": {func(t *testing.T, ours, _ Stack) error {
			return ours.Save(ctx, forget(t, mustLoad(t, ours), "a"))
		}, isNotLocked, []string{"a", "b"}},
		"with the lock of another handle": {func(t *testing.T, ours, theirs Stack) error {
			defer mustLock(t, theirs).Close()
			return ours.Save(ctx, forget(t, mustLoad(t, ours), "a"))
		}, isNotLocked, []string{"a", "b"}},
		"after the lock was released": {func(t *testing.T, ours, _ Stack) error {
			require.NoError(t, mustLock(t, ours).Close())
			return ours.Save(ctx, forget(t, mustLoad(t, ours), "a"))
		}, isNotLocked, []string{"a", "b"}},
		"loaded before another operation ended": {func(t *testing.T, ours, theirs Stack) error {
			now := forget(t, mustLoad(t, ours), "a")
			recordThing(t, theirs, "theirs")
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, now)
		}, isStale(false), []string{"a", "b", "theirs"}},
		"loaded while another operation was running": {func(t *testing.T, ours, theirs Stack) error {
			l := mustLock(t, theirs)
			r, err := theirs.Record(ctx, mustLoad(t, theirs))
			require.NoError(t, err)
			require.NoError(t, r.End(ctx, state.Change{Add: thing("theirs")}))
			now := forget(t, mustLoad(t, ours), "a")
			require.NoError(t, r.End(ctx, state.Change{Add: thing("later")}))
			require.NoError(t, r.Close(ctx))
			require.NoError(t, l.Close())
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, now)
		}, isStale(false), []string{"a", "b", "later", "theirs"}},
		"of a copy, loaded before another edit": {func(t *testing.T, ours, theirs Stack) error {
			now := *mustLoad(t, ours)
			now.Resources = now.Resources[:1]
			mustEdit(t, theirs, snapshotOf(thing("theirs")))
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, &now)
		}, isStale(false), []string{"theirs"}},
		"as text, loaded before another edit": {func(t *testing.T, ours, theirs Stack) error {
			before := mustLoad(t, ours)
			text, err := state.EditText(ctx, before)
			require.NoError(t, err)
			now, _, err := state.ParseEdit(ctx, before, "dev", bytes.ReplaceAll(text, []byte(`"id": "a"`), []byte(`"id": "A"`)))
			require.NoError(t, err)
			recordThing(t, theirs, "theirs")
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, now)
		}, isStale(false), []string{"a", "b", "theirs"}},
		"twice": {func(t *testing.T, ours, _ Stack) error {
			defer mustLock(t, ours).Close()
			before := mustLoad(t, ours)
			require.NoError(t, ours.Save(ctx, forget(t, before, "a")))
			return ours.Save(ctx, forget(t, before, "b"))
		}, isStale(false), []string{"b"}},
		"of a state that was not loaded": {func(t *testing.T, ours, _ Stack) error {
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, snapshotOf(thing("new")))
		}, isStale(true), []string{"a", "b"}},
		"of no state": {func(t *testing.T, ours, _ Stack) error {
			defer mustLock(t, ours).Close()
			return ours.Save(ctx, nil)
		}, isStale(true), []string{"a", "b"}},
		"when the lock has been broken": {func(t *testing.T, ours, theirs Stack) error {
			defer mustLock(t, ours).Close()
			now := forget(t, mustLoad(t, ours), "a")
			breakLocks(t, theirs)
			return ours.Save(ctx, now)
		}, isLost, []string{"a", "b"}},
		"when another one has the lock now": {func(t *testing.T, ours, theirs Stack) error {
			defer mustLock(t, ours).Close()
			now := forget(t, mustLoad(t, ours), "a")
			breakLocks(t, theirs)
			l := mustLock(t, theirs)
			r, err := theirs.Record(ctx, mustLoad(t, theirs))
			require.NoError(t, err)
			require.NoError(t, r.Begin(ctx, creating("theirs")))
			refused := ours.Save(ctx, now)
			require.NoError(t, r.End(ctx, state.Change{Add: thing("theirs")}))
			require.NoError(t, r.Close(ctx), "nobody has written the file of the one who has the lock")
			require.NoError(t, l.Close())
			return refused
		}, isLost, []string{"a", "b", "theirs"}},
		"during a recording": {func(t *testing.T, ours, _ Stack) error {
			defer mustLock(t, ours).Close()
			r, err := ours.Record(ctx, mustLoad(t, ours))
			require.NoError(t, err)
			refused := ours.Save(ctx, forget(t, mustLoad(t, ours), "a"))
			require.NoError(t, r.Close(ctx))
			return refused
		}, func(t *testing.T, err error) { require.ErrorAs(t, err, new(*RecordingError)) }, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ours := f.init(f.open(), "dev")
			mustEdit(t, ours, snapshotOf(thing("a"), thing("b")))
			theirs := mustOpen(t, f.open(), dev)
			c.is(t, c.save(t, ours, theirs))
			require.ElementsMatch(t, c.want, ids(t, theirs))
			require.NotContains(t, strings.Join(f.files(), "\n"), "rejected", "an edit is not the only record of anything")
			mustEdit(t, ours, forget(t, mustLoad(t, ours), c.want[0]))
			require.ElementsMatch(t, c.want[1:], ids(t, theirs), "a refused edit is in nobody's way")
		})
	}
}

// A write that ignores locks is not overwritten either.
func TestAnEditDoesNotReplaceWhatIsWrittenMeanwhile(t *testing.T) {
	ctx := context.Background()
	for name, at := range map[string]string{"before the lock is confirmed": "locks/", "after it has looked": ".bak"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.open()
			s := f.init(b, "dev")
			theirs, err := s.(*fileStack).encode(ctx, snapshotOf(thing("theirs")))
			require.NoError(t, err)
			notice := func(string) {}
			b.storage.store = noticing{b.storage.store, func(key string) { notice(key) }}
			l := mustLock(t, s)
			notice = func(key string) {
				if strings.Contains(key, at) {
					f.write(stackFile, string(theirs))
				}
			}
			err = s.Save(ctx, editOf(mustLoad(t, s), snapshotOf(thing("ours"))))
			require.ErrorAs(t, err, new(*StaleStateError))
			require.NoError(t, l.Close())
			require.Equal(t, []string{"theirs"}, ids(t, s))
		})
	}
}

// noticing is a store that calls a function with each key before it reads, writes or copies it.
type noticing struct {
	store.Store
	notice func(key string)
}

func (n noticing) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	n.notice(key)
	return n.Store.Read(ctx, key)
}

func (n noticing) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	n.notice(key)
	return n.Store.Write(ctx, key, content, c)
}

func (n noticing) Copy(ctx context.Context, from, to string) error {
	n.notice(to)
	return n.Store.Copy(ctx, from, to)
}

// The first state of a stack needs no load before it.
func TestTheFirstStateOfAStackIsMade(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	f.write(stackFile, `{"version":3,"checkpoint":{"stack":"organization/shop/dev"}}`)
	require.Nil(t, mustLoad(t, s))
	l := mustLock(t, s)
	require.NoError(t, s.Save(ctx, snapshotOf(thing("a"))))
	require.ErrorAs(t, s.Save(ctx, snapshotOf(thing("b"))), new(*StaleStateError))
	require.NoError(t, l.Close())
	require.Equal(t, []string{"a"}, ids(t, s))
}

// An import replaces the state on purpose, but never one that another process is about to change.
func TestAnImportReplacesTheStateUnderTheLock(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	mustEdit(t, s, snapshotOf(thing("a")))
	export, err := s.Export(ctx, false)
	require.NoError(t, err)
	theirs := mustOpen(t, f.open(), dev)
	recordThing(t, theirs, "theirs")
	_, err = s.Import(ctx, export, false)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids(t, s))

	l := mustLock(t, theirs)
	_, err = s.Import(ctx, export, false)
	require.ErrorAs(t, err, new(*lock.HeldError))
	require.NoError(t, l.Close())

	// The lock is broken when the import is about to write.
	taken := 0
	b.storage.store = noticing{b.storage.store, func(key string) {
		if strings.Contains(key, "locks/") {
			if taken++; taken == 2 {
				breakLocks(t, theirs)
				recordThing(t, theirs, "theirs")
			}
		}
	}}
	_, err = s.Import(ctx, export, false)
	require.ErrorAs(t, err, new(*lock.LostError))
	require.Equal(t, []string{"a", "theirs"}, ids(t, s))
}

// Neither of the two stacks of a move is written if one of them has changed since it was loaded, or is not locked.
func TestAMoveNeedsBothLocksAndBothPresentStates(t *testing.T) {
	ctx := context.Background()
	type scene struct{ source, dest, other Stack }
	isStale := func(t *testing.T, err error) { require.ErrorAs(t, err, new(*StaleStateError)) }
	isNotLocked := func(t *testing.T, err error) { require.ErrorAs(t, err, new(*NotLockedError)) }
	isLost := func(t *testing.T, err error) { require.ErrorAs(t, err, new(*lock.LostError)) }
	for name, c := range map[string]struct {
		of     Ref // the stack with the problem
		locks  []Ref
		spoil  func(t *testing.T, other Stack)
		before bool // the problem occurs before the locks are taken
		is     func(*testing.T, error)
	}{
		"without a lock":                 {of: prod, is: isNotLocked},
		"without the lock of the source": {of: dev, locks: []Ref{prod}, is: isNotLocked},
		"without the lock of the dest":   {of: prod, locks: []Ref{dev}, is: isNotLocked},
		"of a source that has changed": {of: dev, locks: []Ref{dev, prod}, before: true, is: isStale,
			spoil: func(t *testing.T, other Stack) { recordThing(t, other, "theirs") }},
		"to a dest that has changed": {of: prod, locks: []Ref{dev, prod}, before: true, is: isStale,
			spoil: func(t *testing.T, other Stack) { recordThing(t, other, "theirs") }},
		"with a lost lock of the source": {of: dev, locks: []Ref{dev, prod}, is: isLost,
			spoil: func(t *testing.T, other Stack) { breakLocks(t, other); recordThing(t, other, "theirs") }},
		"with a lost lock of the dest": {of: prod, locks: []Ref{dev, prod}, is: isLost,
			spoil: func(t *testing.T, other Stack) { breakLocks(t, other); recordThing(t, other, "theirs") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.open()
			mustEdit(t, f.init(b, "dev"), snapshotOf(thing("a"), thing("b")))
			f.init(b, "organization/other/prod")
			s := scene{mustOpen(t, b, dev), mustOpen(t, b, prod), mustOpen(t, f.open(), c.of)}
			from := mustLoad(t, s.source)
			a, err := state.FindOne(from, "a")
			require.NoError(t, err)
			m, err := state.Move(ctx, from, mustLoad(t, s.dest), []*state.Resource{a}, state.MoveOptions{Stack: prod.Name, Project: prod.Project})
			require.NoError(t, err)
			if c.before {
				c.spoil(t, s.other)
			}
			for _, stack := range []Stack{s.source, s.dest} {
				if slices.Contains(c.locks, stack.Ref()) {
					defer mustLock(t, stack).Close()
				}
			}
			if !c.before && c.spoil != nil {
				c.spoil(t, s.other)
			}
			before := map[Ref][]string{dev: ids(t, s.source), prod: ids(t, s.dest)}
			err = s.source.SaveMove(ctx, m.Source, s.dest, m.Dest)
			c.is(t, err)
			require.ErrorContains(t, err, "nothing was moved: ")
			require.ErrorContains(t, err, c.of.String())
			require.Equal(t, before, map[Ref][]string{dev: ids(t, s.source), prod: ids(t, s.dest)})
			require.NotContains(t, strings.Join(f.files(), "\n"), "pairs/", "there is nothing to complete")
		})
	}
}
