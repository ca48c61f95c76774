package backend

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
)

const journalPath = ".pulumi/sluice/journal/shop/dev.jnl"

// open opens the store as another process does, and collects the user's notes.
func (f *fixture) listening() (*File, *[]string) {
	b, notes := f.open(), &[]string{}
	b.storage.options.Note = func(text string, _ ...advice.Advice) { *notes = append(*notes, text) }
	return b, notes
}

// record begins a recording as a process does that dies without releasing its lock: the next one finds it free.
// When the test ends, the recorder ends too, before the test's folders are removed: it would write the next checkpoint into them afterwards.
func record(t testing.TB, s Stack, base *state.Snapshot) state.Recorder {
	t.Helper()
	ctx := context.Background()
	w, err := s.(*fileStack).files.file().Writer(ctx)
	require.NoError(t, err)
	r, err := s.(*fileStack).recorder(ctx, w, base, "destroy")
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close(ctx) }) // the test may have closed it, or have changed its files
	return r
}

// interrupt stops an operation in the middle: "a" is made, and the fate of "b" is unknown.
func (f *fixture) interrupt() Ref {
	f.Helper()
	ctx := context.Background()
	s := f.init(f.open(), "dev")
	base, err := s.Load(ctx)
	require.NoError(f, err)
	r := record(f, s, base)
	require.NoError(f, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("a")}))
	require.NoError(f, r.End(ctx, state.Change{Add: thing("a")}))
	require.NoError(f, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("b")}))
	return s.Ref()
}

func TestOpeningAStackRecoversWhatWasInterrupted(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	before := f.read(stackFile)
	require.NotContains(t, before, "a:b:C")
	b, notes := f.listening()
	s, err := b.Open(context.Background(), ref)
	require.NoError(t, err)
	require.Len(t, *notes, 1)
	require.Contains(t, (*notes)[0], "the last operation on stack dev")
	require.NotContains(t, (*notes)[0], "\n")
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	require.Len(t, snapshot.Resources, 1)
	require.Len(t, snapshot.Pending, 2, "in this run nobody ended the create of a")
	require.Equal(t, before, f.read(stackFile+".bak"), "what was there before the operation")
	for _, name := range f.files() {
		require.NotContains(t, name, "journal")
		require.NotContains(t, name, "locks")
	}
	updates, _, err := s.History(context.Background())
	require.NoError(t, err)
	require.Len(t, updates, 1)
	require.Equal(t, ResultFailed, updates[0].Result)
	require.Equal(t, "destroy", updates[0].Kind)
	require.Equal(t, updates[0].StartTime, updates[0].EndTime, "nothing that was done has a time")

	b, notes = f.listening()
	_, err = b.Open(context.Background(), ref)
	require.NoError(t, err)
	require.Empty(t, *notes, "the next one has nothing to say")
}

func TestListingStacksRecoversWhatWasInterrupted(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	b, notes := f.listening()
	listed, err := b.Stacks(context.Background(), Filter{Project: "another"})
	require.NoError(t, err)
	require.Empty(t, listed)
	require.Empty(t, *notes)
	for _, project := range []string{ref.Project, ""} {
		listed, err = b.Stacks(context.Background(), Filter{Project: project})
		require.NoError(t, err)
		require.Len(t, listed, 1)
		require.Equal(t, 1, listed[0].Summary.Resources)
		require.Len(t, *notes, 1, "it is told of once")
	}
}

func TestAJournalThatCannotBeRecoveredNowIsToldOfOnceAndTriedAgainByTheNextCommand(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	ref := f.interrupt()
	b, notes := f.listening()
	b.storage.store.(*store.Dir).Crash = func(m store.Moment) error {
		if m == store.Written {
			return errors.New("no space left on device")
		}
		return nil
	}
	for range 2 {
		s, err := b.Open(ctx, ref)
		require.NoError(t, err, "the stack can be read")
		snapshot, err := s.Load(ctx)
		require.NoError(t, err)
		require.Len(t, snapshot.Resources, 1, "what is only in the journal is read, too")
	}
	require.Len(t, *notes, 1)
	require.Contains(t, (*notes)[0], "could not be recovered from its journal now: ")
	require.Contains(t, (*notes)[0], "no space left on device. What is read includes no change and 2 operations that have not ended")
	require.Contains(t, f.files(), journalPath)

	b, notes = f.listening()
	_, err := b.Open(ctx, ref)
	require.NoError(t, err)
	require.Contains(t, (*notes)[0], "it had completed no change. The outcome of 2 more is not known")
}

// killed leaves the lock of a process that was killed during an operation.
func (f *fixture) killed(b *File, ref Ref, operation string) lock.Owner {
	f.Helper()
	dead := lock.Self()
	if dead.Boot == "" {
		f.Skip("this system does not tell when it was booted: no owner is ever certainly dead")
	}
	cmd := exec.Command("true")
	require.NoError(f, cmd.Run())
	dead.PID, dead.Start, dead.Lease.Operation = cmd.Process.Pid, "1", operation
	text, err := json.Marshal(dead)
	require.NoError(f, err)
	options := b.stack(ref).files.lockOptions()
	_, err = options.Store.Write(context.Background(), options.Folder+"/killed.json", text, store.IfAbsent())
	require.NoError(f, err)
	return dead
}

func TestAKilledOperationWithoutItsJournalIsReported(t *testing.T) {
	remove := func(f *fixture) { require.NoError(f, os.Remove(filepath.Join(f.dir, journalPath))) }
	for name, c := range map[string]struct {
		operation string
		change    func(f *fixture)
		says      string // "" if nothing is reported
	}{
		"removed":               {"update", remove, "left no journal"},
		"emptied":               {"update", func(f *fixture) { f.write(journalPath, "") }, "something has emptied it"},
		"emptied, without lock": {"", func(f *fixture) { f.write(journalPath, "") }, "something has emptied it"},
		"an operation without":  {"stack import", remove, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ref := f.interrupt()
			c.change(f)
			b, notes := f.listening()
			if c.operation != "" {
				f.killed(b, ref, c.operation)
			}
			l, err := b.stack(ref).Lock(context.Background(), LockOptions{})
			require.NoError(t, err)
			require.NoError(t, l.Close())
			if c.says == "" {
				require.Empty(t, *notes)
				return
			}
			require.Len(t, *notes, 1)
			require.Contains(t, (*notes)[0], c.says)
		})
	}
}

func TestTheLockOfAKilledProcessStaysUntilItsJournalIsRecovered(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	ref := f.interrupt()
	b, _ := f.listening()
	dead := f.killed(b, ref, "")
	options := b.stack(ref).files.lockOptions()
	writes := 0
	b.storage.store.(*store.Dir).Crash = func(m store.Moment) error {
		if m != store.Written {
			return nil
		}
		if writes++; writes == 2 { // after the lock file
			return errors.New("no space left on device")
		}
		return nil
	}
	_, err := b.Open(ctx, ref)
	require.NoError(t, err, "the stack can be read")
	held, err := lock.List(ctx, options)
	require.NoError(t, err)
	require.Len(t, held, 1, "Pulumi does not read the journal")
	require.Equal(t, dead.PID, held[0].Owner.PID)

	b, _ = f.listening()
	_, err = b.Open(ctx, ref)
	require.NoError(t, err)
	held, err = lock.List(ctx, options)
	require.NoError(t, err)
	require.Empty(t, held)
}

func TestAJournalIsLeftAloneWhileSomebodyWorks(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	b, notes := f.listening()
	l, err := b.stack(ref).files.lock(context.Background(), LockOptions{})
	require.NoError(t, err)
	s, err := b.Open(context.Background(), ref)
	require.NoError(t, err)
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	require.Len(t, snapshot.Resources, 1)
	require.Empty(t, *notes, "this process has the lock, and knows what it does")
	require.Contains(t, f.files(), journalPath)
	require.NoError(t, l.Release())
	unlock, err := s.Lock(context.Background(), LockOptions{})
	require.NoError(t, err)
	require.Len(t, *notes, 1, "whoever takes the lock recovers first")
	require.NoError(t, unlock.Close())
}

func TestAStackWithAStaleJournalCanBeReadAndNotChanged(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	ref := f.interrupt()
	theirs := strings.Replace(f.read(stackFile), "{", "{ ", 1)
	f.write(stackFile, theirs)
	b, notes := f.listening()
	s, err := b.Open(ctx, ref)
	require.NoError(t, err)
	require.Len(t, *notes, 1)
	require.Contains(t, (*notes)[0], "creating urn:pulumi:dev::shop::a:b:C::b")
	_, err = s.Load(ctx)
	require.NoError(t, err)
	_, err = s.Lock(ctx, LockOptions{})
	var undecided *JournalError
	require.ErrorAs(t, err, &undecided)
	require.Equal(t, []advice.Advice{advice.On(advice.DiscardJournal)}, advice.Of(err))
	listed, err := os.ReadFile(undecided.Salvage)
	require.NoError(t, err)
	require.Contains(t, string(listed), `"urn": "urn:pulumi:dev::shop::a:b:C::b"`)
	require.Error(t, b.Remove(ctx, ref, RemoveOptions{}))
	require.Equal(t, theirs, f.read(stackFile))
	held, err := s.Locks(ctx)
	require.NoError(t, err)
	require.Empty(t, held, "whoever is refused keeps no lock")

	left := f.read(journalPath)
	where, err := s.DiscardJournal(ctx)
	require.NoError(t, err)
	kept, err := os.ReadFile(where)
	require.NoError(t, err)
	require.Equal(t, left, string(kept))
	require.Equal(t, theirs, f.read(stackFile))
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestRemovingAStackByForcePutsItsJournalAside(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	f.write(stackFile, f.read(stackFile)+" ")
	b, _ := f.listening()
	require.NoError(t, b.Remove(context.Background(), ref, RemoveOptions{Force: true}))
	require.NotContains(t, f.files(), journalPath)
	aside, err := filepath.Glob(f.dir + "/.pulumi/sluice/salvage/shop/*.jnl")
	require.NoError(t, err)
	require.Len(t, aside, 1)
}

func TestAStackOfTheSameNameDoesNotInheritAJournal(t *testing.T) {
	f := newFixture(t)
	f.interrupt()
	require.NoError(t, os.Remove(filepath.Join(f.dir, stackFile)))
	b, notes := f.listening()
	s := f.init(b, "dev")
	require.Len(t, *notes, 1)
	require.Contains(t, (*notes)[0], "sluice/salvage/shop/dev.")
	require.NotContains(t, f.files(), journalPath)
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	require.Empty(t, snapshot.Resources)
}

func TestNothingIsRecordedOnAStateThatSomebodyElseHasWritten(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	base, err := s.Load(ctx)
	require.NoError(t, err)
	theirs := snapshotOf(thing("theirs"))
	mustEdit(t, s, theirs)
	unlock, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	_, err = s.Record(ctx, base)
	require.ErrorContains(t, err, "written by somebody else")

	// A state that appears during the run is not overwritten either.
	base, err = s.Load(ctx)
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	require.NoError(t, r.End(ctx, state.Change{Add: thing("ours")}))
	more, err := s.(*fileStack).encode(ctx, snapshotOf(thing("theirs"), thing("more")))
	require.NoError(t, err)
	f.write(stackFile, string(more))
	require.ErrorContains(t, r.Close(ctx), "written by somebody else")
	require.Contains(t, f.read(stackFile), "more")
	require.Contains(t, f.files(), journalPath)
	require.ErrorContains(t, unlock.Close(), "is kept")
}

func TestLockIsKeptWhileOnlyTheJournalHasTheState(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	unlock, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	r, err := s.Record(ctx, mustLoad(t, s))
	require.NoError(t, err)
	require.NoError(t, r.End(ctx, state.Change{Add: thing("a")}))
	err = unlock.Close()
	require.ErrorContains(t, err, "the lock of stack dev is kept", "Pulumi must not work from the stack file now")
	require.Empty(t, advice.Of(err), "nobody should remove the lock now")
	held, err := s.Locks(ctx)
	require.NoError(t, err)
	require.Len(t, held, 1)
	require.False(t, held[0].HasEnded(), "the operation still records")
	require.NoError(t, r.Close(ctx))
	held, err = s.Locks(ctx)
	require.NoError(t, err)
	require.Empty(t, held, "it goes with the end of the operation")
	require.NoError(t, unlock.Close())
}

// The process goes on, and so do others. Each of them recovers what the journal has.
func TestTheNextOneRecoversWhatCouldNotBeWritten(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		alsoLock bool // the mark of the lock cannot be written either
		reopen   bool // the next one has a backend of its own
	}{
		"the same backend":                         {},
		"another backend of the process":           {reopen: true},
		"the same backend, while the mark is lost": {alsoLock: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			full := false
			open := func() *File {
				b := f.open()
				b.storage.store = failing{b.storage.store, func(doing, key string) bool {
					return full && doing == "write" && (key == stackFile || c.alsoLock && strings.HasPrefix(key, lockPath))
				}, nil}
				return b
			}
			b := open()
			s := f.init(b, "dev")
			unlock, err := s.Lock(ctx, LockOptions{Operation: "update"})
			require.NoError(t, err)
			r, err := s.Record(ctx, mustLoad(t, s))
			require.NoError(t, err)
			require.NoError(t, r.End(ctx, state.Change{Add: thing("a")}))
			full = true
			require.ErrorIs(t, r.Close(ctx), errFull)
			err = unlock.Close()
			require.ErrorContains(t, err, "the lock of stack dev is kept")
			require.Equal(t, c.alsoLock, errors.Is(err, errFull))
			full = false

			if c.reopen {
				b = open()
			}
			again, err := b.Open(ctx, s.Ref())
			require.NoError(t, err)
			l, err := again.Lock(ctx, LockOptions{})
			require.NoError(t, err)
			require.Len(t, mustLoad(t, again).Resources, 1)
			require.NoError(t, l.Close())
			left, err := remains{again.(*fileStack).files}.exist(ctx)
			require.NoError(t, err)
			require.False(t, left)
			held, err := again.Locks(ctx)
			require.NoError(t, err)
			require.Empty(t, held)
		})
	}
}

func TestCheckpointsEveryStepKeepNoJournal(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	b.storage.options.Checkpoints = CheckpointsEveryStep
	s := f.init(b, "dev")
	r := record(t, s, mustLoad(t, s))
	require.NoError(t, r.End(ctx, state.Change{Add: thing("a")}))
	require.Contains(t, f.read(stackFile), `"id":"a"`)
	require.NotContains(t, f.files(), journalPath)
	require.NoError(t, r.Close(ctx))
}

// A process that is killed at any moment of any write of a run loses nothing that it has acknowledged, and the stack file
// is a whole one at every moment.
func TestKillAtAnyMomentOfARunLosesNothing(t *testing.T) {
	ctx := context.Background()
	ended := false
	for at := 0; !ended; at++ {
		f := newFixture(t)
		b := f.open()
		s := f.init(b, "dev")
		base, err := s.Load(ctx)
		require.NoError(t, err)
		moments := 0
		b.storage.store.(*store.Dir).Crash = func(store.Moment) error {
			if moments++; moments > at {
				return store.ErrKilled
			}
			return nil
		}
		acknowledged := f.runOf(s, base)
		ended = moments <= at
		_, err = state.DecodeCheckpoint(ctx, []byte(f.read(stackFile)), state.DecodeOptions{})
		require.NoError(t, err, "moment %d", at)
		b, _ = f.listening()
		again, err := b.Open(ctx, s.Ref())
		require.NoError(t, err)
		snapshot, err := again.Load(ctx)
		require.NoError(t, err)
		ids := map[string]bool{}
		for _, r := range snapshot.Resources {
			ids[r.ID] = true
		}
		for _, id := range acknowledged {
			require.True(t, ids[id], "killed at moment %d: %s is lost", at, id)
		}
		require.NotContains(t, f.files(), journalPath)
	}
}

// runOf records until it is killed, and returns the acknowledged records.
func (f *fixture) runOf(s Stack, base *state.Snapshot) (acknowledged []string) {
	ctx := context.Background()
	r := record(f, s, base)
	for _, id := range []string{"a", "b", "c"} {
		res := thing(id)
		if r.Begin(ctx, state.Pending{Type: state.Creating, Resource: res}) != nil {
			return acknowledged
		}
		if r.End(ctx, state.Change{Begun: res, Add: res}) != nil {
			return acknowledged
		}
		acknowledged = append(acknowledged, id)
	}
	_ = r.Close(ctx) // it may be killed, too
	return acknowledged
}

func TestAJournalThatEndsInTheMiddleOfARecordIsRecoveredAndItsEndIsKept(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	whole := f.read(journalPath)
	f.write(journalPath, whole[:len(whole)-7])
	b, notes := f.listening()
	s, err := b.Open(context.Background(), ref)
	require.NoError(t, err)
	require.Len(t, *notes, 2)
	require.Contains(t, (*notes)[0], "bytes of a write that never finished")
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	require.Len(t, snapshot.Pending, 1, "what had begun last is in what was cut off")
	aside, err := filepath.Glob(f.dir + "/.pulumi/sluice/salvage/shop/dev.*.torn")
	require.NoError(t, err)
	require.Len(t, aside, 1)
	require.Contains(t, (*notes)[0], aside[0])
	kept, err := os.ReadFile(aside[0])
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(whole[:len(whole)-7], string(kept)))
	require.Contains(t, string(kept), `"k":"begin"`)
}

// The torn end is not cut off if it cannot be kept.
func TestATornEndThatCannotBeKeptStaysInTheJournal(t *testing.T) {
	f := newFixture(t)
	ref := f.interrupt()
	torn := f.read(journalPath)
	torn = torn[:len(torn)-7]
	f.write(journalPath, torn)
	f.write(".pulumi/sluice/salvage", "not a folder")
	b, notes := f.listening()
	s, err := b.Open(context.Background(), ref)
	require.NoError(t, err)
	_, err = s.Load(context.Background())
	require.NoError(t, err)
	require.Contains(t, (*notes)[0], "keep the end of the journal of stack dev")
	require.Equal(t, torn, f.read(journalPath))
}

func TestADamagedJournalIsRefusedAsAWhole(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	ref := f.interrupt()
	whole, before := []byte(f.read(journalPath)), f.read(stackFile)
	whole[len(whole)-7] ^= 1
	f.write(journalPath, string(whole))
	b, notes := f.listening()
	s, err := b.Open(ctx, ref)
	require.NoError(t, err)
	require.Len(t, *notes, 1)
	_, err = s.Lock(ctx, LockOptions{})
	var undecided *JournalError
	require.ErrorAs(t, err, &undecided)
	require.ErrorAs(t, err, new(*journal.DamagedError))
	require.Equal(t, []advice.Advice{advice.On(advice.DiscardJournal)}, advice.Of(err))
	require.Equal(t, string(whole), f.read(journalPath))
	require.Equal(t, before, f.read(stackFile))
	const made = "had begun creating urn:pulumi:dev::shop::a:b:C::a (ID a)"
	require.Contains(t, (*notes)[0], made, "no refresh finds an object that only the whole records name")
	require.ErrorContains(t, err, made)
	listed, err := os.ReadFile(undecided.Salvage)
	require.NoError(t, err)
	require.Contains(t, string(listed), `"urn": "urn:pulumi:dev::shop::a:b:C::a"`)
	require.NotContains(t, string(listed), "::b\"", "that record is damaged")
}

func TestTheRecordsBeforeTheDamageAreListedAsFarAsTheyFit(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(f *fixture, whole []byte)
		says   string
	}{
		"the header": {func(_ *fixture, whole []byte) { whole[20] ^= 1 }, "is damaged at byte 0"},
		"the base":   {func(f *fixture, _ []byte) { f.write(stackFile, "{}"); f.write(journalPath+".base", "{}") }, "has been changed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.interrupt()
			whole := []byte(f.read(journalPath))
			whole[len(whole)-7] ^= 1
			c.change(f, whole)
			f.write(journalPath, string(whole))
			b, notes := f.listening()
			_, err := b.Open(ctx, Ref{Project: "shop", Name: "dev"})
			require.NoError(t, err)
			require.Len(t, *notes, 1)
			require.Contains(t, (*notes)[0], c.says)
		})
	}
}

// full is a store without room for the base of a journal.
type full struct{ store.Store }

func (f full) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if strings.HasSuffix(key, ".base") {
		return store.Info{}, errors.New("no space left")
	}
	return f.Store.Write(ctx, key, content, c)
}

func TestAJournalWhoseBaseCannotBeKeptIsNotBegun(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	b.storage.store = full{b.storage.store}
	j := b.storage.files(Ref{Project: "shop", Name: "dev"}).journal()
	require.ErrorContains(t, j.Create(ctx, []byte("journal"), []byte("base")), "no space left")
	there, err := j.Exists(ctx)
	require.NoError(t, err)
	require.False(t, there)
}

// A process that has lost the lock begins its journal after the present holder has begun one.
func TestAJournalThatIsRefusedLeavesThePresentOne(t *testing.T) {
	ctx := context.Background()
	for name, wrap := range map[string]func(store.Store) store.Store{
		"file":     func(s store.Store) store.Store { return s },
		"segments": func(s store.Store) store.Store { return struct{ store.Store }{s} },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.open()
			b.storage.store = wrap(b.storage.store)
			files := b.storage.files(Ref{Project: "shop", Name: "dev"})
			holder, late := files.journal(), files.journal()
			require.NoError(t, holder.Create(ctx, []byte("journal of the holder"), []byte("base of the holder")))

			require.ErrorIs(t, late.Create(ctx, []byte("late journal"), []byte("late base")), store.ErrConflict)
			require.NoError(t, late.Remove(ctx), "as at the end of a run")
			found := files.journal()
			content, err := found.Read(ctx)
			require.NoError(t, err)
			require.Equal(t, "journal of the holder", string(content))
			base, err := found.Base(ctx)
			require.NoError(t, err)
			require.Equal(t, "base of the holder", string(base))
		})
	}
}
