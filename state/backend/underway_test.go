package backend

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
)

// renewed is the lock of a process on another machine that renewed its lease some time ago.
func renewed(t *testing.T, ago time.Duration) string {
	var o lock.Owner
	require.NoError(t, json.Unmarshal([]byte(elsewhere(t, lock.Tool)), &o))
	o.Lease.Renewed = time.Now().Add(-ago)
	b, err := json.Marshal(o)
	require.NoError(t, err)
	return string(b)
}

// dead is the lock of a process on this machine that has ended.
func dead(t *testing.T) string {
	var o lock.Owner
	require.NoError(t, json.Unmarshal([]byte(parent(t)), &o))
	o.Start = "1"
	b, err := json.Marshal(o)
	require.NoError(t, err)
	return string(b)
}

func underWay(ops []state.Pending) (names []string) {
	for _, op := range ops {
		if op.UnderWay {
			names = append(names, op.Resource.URN.Name())
		}
	}
	return names
}

// pendingIn makes a stack in whose file an operation is pending.
func (f *fixture) pendingIn(name string) Stack {
	s := f.init(f.open(), "dev")
	snapshot := snapshotOf()
	snapshot.Pending = []state.Pending{{Type: state.Creating, Resource: thing(name)}}
	mustEdit(f, s, snapshot)
	return s
}

// A pending operation was interrupted only if its process has certainly ended.
func TestOperationsOfACommandThatWorksAreNotInterrupted(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		lock    func(*testing.T) string // nil for none
		journal string                  // the beginning of the note with a journal
		plain   string                  // and without one; "" for no note
		begun   bool                    // the operation that the journal begins is under way
		pending bool                    // an operation pending in a stack file without a journal is under way
	}{
		"running": {parent, "an operation on stack dev, begun at 2026-01-02T03:04:05Z, is running (",
			"another command is working on stack dev (", true, true},
		"alive elsewhere": {func(t *testing.T) string { return renewed(t, time.Second) },
			"an operation on stack dev, begun at 2026-01-02T03:04:05Z, is running (ada@another (pid 4711)",
			"another command is working on stack dev (ada@another (pid 4711)", true, true},
		"silent elsewhere": {func(t *testing.T) string { return renewed(t, 2*time.Minute) },
			"an operation on stack dev, begun at 2026-01-02T03:04:05Z, has not ended, and whether it still runs cannot be found out",
			"stack dev is locked, and whether the command that has the lock still runs cannot be found out from here (ada@another", true, true},
		"by another clock": {func(t *testing.T) string { return renewed(t, -2*time.Minute) },
			"an operation on stack dev, begun at 2026-01-02T03:04:05Z, has not ended", "stack dev is locked", true, true},
		"unreadable": {func(*testing.T) string { return "{" },
			"an operation on stack dev, begun at 2026-01-02T03:04:05Z, has not ended", "stack dev is locked", true, true},
		"another tool": {func(t *testing.T) string { return elsewhere(t, "") },
			"the last operation on stack dev, begun at 2026-01-02T03:04:05Z, was interrupted, and is not recovered while another tool has the lock",
			"stack dev is locked", false, true},
		"dead":    {dead, "the last operation on stack dev, begun at 2026-01-02T03:04:05Z, was interrupted", "", false, false},
		"no lock": {nil, "the last operation on stack dev, begun at 2026-01-02T03:04:05Z, was interrupted", "", false, false},
	} {
		read := func(t *testing.T, f *fixture) (ops []state.Pending, notes []string) {
			if c.lock != nil {
				f.write(lockPath+"theirs.json", c.lock(t))
			}
			before := f.everything()
			b, told := f.listening()
			s := b.stack(dev) // not recovered, as where it may not be written
			for _, load := range []func(context.Context) (*state.Snapshot, error){s.Load, s.LoadSealed} {
				snapshot, err := load(ctx)
				require.NoError(t, err)
				require.NotEmpty(t, snapshot.Origin())
				ops = snapshot.Pending
			}
			require.Equal(t, before, f.everything())
			return ops, *told
		}
		t.Run(name+"/with a journal", func(t *testing.T) {
			f := newFixture(t)
			s := f.pendingIn("earlier")
			base, err := s.Load(ctx)
			require.NoError(t, err)
			r := record(t, s, base)
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("begun")}))
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("earlier")}))
			ops, notes := read(t, f)
			require.Len(t, ops, 3)
			require.Len(t, notes, 1)
			require.Contains(t, notes[0], c.journal)
			if c.begun {
				require.Equal(t, []string{"begun", "earlier"}, underWay(ops), "one create of it is, and the earlier one was interrupted")
			} else {
				require.Empty(t, underWay(ops))
			}
		})
		t.Run(name+"/without a journal", func(t *testing.T) {
			f := newFixture(t)
			f.pendingIn("it")
			ops, notes := read(t, f)
			require.Len(t, ops, 1)
			require.Equal(t, c.pending, ops[0].UnderWay)
			if c.plain == "" {
				require.Empty(t, notes)
				return
			}
			require.Len(t, notes, 1)
			require.Contains(t, notes[0], c.plain)
		})
	}
}

// While a handle has the lock, nobody else works on the stack.
func TestWhoHasTheLockFindsInterruptedOperations(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.pendingIn("it")
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	defer l.Close()
	snapshot, err := s.Load(ctx)
	require.NoError(t, err)
	require.Empty(t, underWay(snapshot.Pending))

	b, notes := f.listening()
	snapshot, err = b.stack(dev).Load(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"it"}, underWay(snapshot.Pending), "another handle of the same process")
	require.Empty(t, *notes, "whose own work it is")
}

// ending is a machine on which an operation ends after its records are read and before its lock is.
type ending struct {
	lock.Machine
	end func()
}

func (e *ending) Now() time.Time { return time.Now() }

func (e *ending) Self() lock.Owner { return lock.Self() }

func (e *ending) Life(lock.Owner) lock.Life {
	if e.end != nil {
		e.end()
		e.end = nil
	}
	return lock.Dead
}

func TestAnOperationThatEndsWhileItIsReadWasNotInterrupted(t *testing.T) {
	ctx := context.Background()
	for _, journalled := range []bool{true, false} {
		f := newFixture(t)
		b, notes := f.listening()
		s := b.stack(dev)
		var end func() error
		if journalled {
			first := f.init(f.open(), "dev")
			base, err := first.Load(ctx)
			require.NoError(t, err)
			r, made := record(t, first, base), thing("it")
			require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: made}))
			end = func() error { return errors.Join(r.End(ctx, state.Change{Begun: made, Add: made}), r.Close(ctx)) }
		} else {
			first := f.pendingIn("it")
			pending := f.read(stackFile)
			mustEdit(t, first, snapshotOf(thing("it")))
			ended := f.read(stackFile)
			f.write(stackFile, pending)
			end = func() error { f.write(stackFile, ended); return nil }
		}
		f.write(lockPath+"theirs.json", parent(t))
		b.storage.options.Machine = &ending{end: func() { require.NoError(t, end()) }}
		snapshot, err := s.Load(ctx)
		require.NoError(t, err)
		require.Len(t, snapshot.Resources, 1, "journalled: %t", journalled)
		require.Empty(t, *notes)
	}
}

// Until it is completed, a stack that is part of an operation on two stacks is read as it is.
func TestReadersAreToldOfAnOperationOnTwoStacksThatHasNotEnded(t *testing.T) {
	ctx := context.Background()
	for name, path := range map[string]string{"this stack": lockPath, "the other stack": ".pulumi/locks/organization/other/prod/"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b, notes := f.listening()
			s := f.init(b, "dev").(*fileStack)
			content, err := s.files.content(ctx)
			require.NoError(t, err)
			p := &intent{stacks: [2]stackFiles{b.storage.files(prod), s.files}}
			require.NoError(t, p.begin(ctx, renaming, [2]side{sideOf(nil, content), sideOf(content, nil)}))
			f.write(path+"theirs.json", renewed(t, time.Hour))
			before := f.everything()
			opened, err := b.Open(ctx, dev)
			require.NoError(t, err)
			require.Empty(t, *notes, "only who reads the state is told what is read")
			_, err = opened.Load(ctx)
			require.NoError(t, err)
			_, err = opened.Export(ctx, false)
			require.NoError(t, err)
			require.Len(t, *notes, 1)
			require.Contains(t, (*notes)[0], "stack dev is locked, and whether the command that has the lock still runs cannot be found out from here (ada@another")
			require.Contains(t, (*notes)[0], "What is read may be a moment of it; the rename of stack dev to ")
			require.Equal(t, before, f.everything())
		})
	}
}
