package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
)

const lockPath = ".pulumi/locks/organization/shop/dev/"

// elsewhere is the lock of a process on another machine.
func elsewhere(t *testing.T, tool string) string {
	o := lock.Self()
	o.PID, o.Username, o.Hostname, o.Tool = 4711, "ada", "another", tool
	o.Lease = lock.Lease{Run: "r", Operation: "update", Renewed: time.Unix(1800000000, 0).UTC(), Seconds: 60}
	b, err := json.Marshal(o)
	require.NoError(t, err)
	return string(b)
}

// parent is the lock of a running process on this machine.
func parent(t *testing.T) string {
	o := lock.Self()
	o.PID, o.Tool = os.Getppid(), lock.Tool
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", o.PID))
	if err != nil {
		t.Skip("the start of a process is not known here")
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	o.Start = fields[19]
	b, err := json.Marshal(o)
	require.NoError(t, err)
	return string(b)
}

// readings are the ways to read a stack. Each returns a text with the content.
func readings(ctx context.Context, b *File, s Stack) map[string]func() (string, error) {
	of := func(v *state.Snapshot, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d resources, %d pending", len(v.Resources), len(v.Pending)), nil
	}
	return map[string]func() (string, error){
		"load":        func() (string, error) { return of(s.Load(ctx)) },
		"load sealed": func() (string, error) { return of(s.LoadSealed(ctx)) },
		"export": func() (string, error) {
			text, err := s.Export(ctx, false)
			if err != nil {
				return "", err
			}
			return of(state.DecodeExport(ctx, text, state.DecodeOptions{}))
		},
		"export with secrets": func() (string, error) {
			text, err := s.Export(ctx, true)
			if err != nil {
				return "", err
			}
			return of(state.DecodeExport(ctx, text, state.DecodeOptions{}))
		},
		"list": func() (string, error) {
			all, err := b.Stacks(ctx, Filter{Project: "shop"})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d resources, 2 pending", all[0].Summary.Resources), all[0].Err
		},
		"resources of a reference": func() (string, error) {
			all, err := b.StackResources(ctx, "dev")
			return fmt.Sprintf("%d resources, 2 pending", len(all)), err
		},
	}
}

func TestReadersIncludeAJournalThatCannotBeRecovered(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		lock   func(t *testing.T) string
		says   string
		advice []advice.Advice
	}{
		"another machine": {func(t *testing.T) string { return elsewhere(t, lock.Tool) },
			"has not ended, and whether it still runs cannot be found out from here (ada@another (pid 4711) at",
			[]advice.Advice{advice.On(advice.CancelDead)}},
		"unreadable": {func(*testing.T) string { return "{" },
			"cannot be found out from here (an unknown owner: the lock file cannot be read: ",
			[]advice.Advice{advice.On(advice.CancelDead)}},
		"empty": {func(*testing.T) string { return "" },
			"cannot be found out from here (an unknown owner: the lock file cannot be read: ",
			[]advice.Advice{advice.On(advice.CancelDead)}},
		"running":      {parent, "is running (", nil},
		"another tool": {func(t *testing.T) string { return elsewhere(t, "") }, "is not recovered while another tool has the lock (ada@another", nil},
	} {
		for reading := range readings(ctx, nil, nil) {
			t.Run(name+"/"+reading, func(t *testing.T) {
				f := newFixture(t)
				ref := f.interrupt()
				f.write(lockPath+"theirs.json", c.lock(t))
				before := f.everything()
				b, notes := f.listening()
				var said []advice.Advice
				note := b.storage.options.Note
				b.storage.options.Note = func(text string, as ...advice.Advice) { note(text); said = append(said, as...) }
				s, err := b.Open(ctx, ref)
				require.NoError(t, err)
				require.Empty(t, *notes, "only who reads the state is told what is read")
				for range 2 {
					got, err := readings(ctx, b, s)[reading]()
					require.NoError(t, err)
					require.Equal(t, "1 resources, 2 pending", got)
				}
				require.Len(t, *notes, 1, "it is told of once")
				require.Contains(t, (*notes)[0], "operation on stack dev, begun at ")
				require.Contains(t, (*notes)[0], c.says)
				require.Regexp(t, "What is read (includes|is a moment of it, with) ", (*notes)[0])
				require.Contains(t, (*notes)[0], " no change and 2 operations that have not ended (creating urn:pulumi:dev::shop::a:b:C::a and others) "+
					"from its journal; nothing was written")
				require.NotContains(t, (*notes)[0], "\n")
				require.Equal(t, c.advice, said)
				require.Equal(t, before, f.everything(), "nothing is written")
				_, err = s.Lock(ctx, LockOptions{})
				require.ErrorAs(t, err, new(*lock.HeldError))
			})
		}
	}
}

// everything returns the content of every file of the backend, by its name.
func (f *fixture) everything() map[string]string {
	all := map[string]string{}
	for _, name := range f.files() {
		all[name] = f.read(name)
	}
	return all
}

// A journal that cannot be applied is not part of the reading, and the reader reports this and why.
func TestReadersSayThatAJournalCannotBeRead(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(f *fixture)
		says   []string
	}{
		"damage": {func(f *fixture) {
			b := []byte(f.read(journalPath))
			b[len(b)/2] ^= 1
			f.write(journalPath, string(b))
		}, []string{"needs a decision, and what is read is the state of its last checkpoint: ", "is damaged at byte"}},
		"foreign": {func(f *fixture) { f.write(stackFile, f.read(stackFile)+" ") },
			[]string{"needs a decision, and what is read is the state of its last checkpoint: ", "written by somebody else", "creating urn:pulumi:dev::shop::a:b:C::b"}},
		"no permission": {func(f *fixture) {
			require.NoError(f, os.Remove(filepath.Join(f.dir, journalPath)))
			require.NoError(f, os.Mkdir(filepath.Join(f.dir, journalPath), 0o700)) // root may read every file, but no directory as one
		}, []string{"journal of stack dev cannot be read: ", "What is read is the state of its last checkpoint"}},
	} {
		for _, locked := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", locked ", locked), func(t *testing.T) {
				f := newFixture(t)
				ref := f.interrupt()
				c.change(f)
				if locked {
					f.write(lockPath+"theirs.json", elsewhere(t, lock.Tool))
				}
				b, notes := f.listening()
				s, err := b.Open(ctx, ref)
				require.NoError(t, err)
				for range 2 {
					snapshot, err := s.Load(ctx)
					require.NoError(t, err)
					require.Empty(t, snapshot.Resources)
				}
				require.Len(t, *notes, 1, "it is explained once")
				for _, says := range c.says {
					require.Contains(t, (*notes)[0], says)
				}
			})
		}
	}
}

// A read while an operation runs, from its first record to the removal of its journal, includes everything that was
// recorded before, and damages nothing.
func TestReadersFollowARunningOperation(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	defer l.Close()
	var recorded atomic.Int64
	done := make(chan error)
	go func() {
		done <- func() error {
			for range 5 {
				base, err := s.Load(ctx)
				if err != nil {
					return err
				}
				r, err := s.Record(ctx, base)
				if err != nil {
					return err
				}
				for range 20 {
					a := thing(fmt.Sprint("a", recorded.Load()))
					if err := r.Begin(ctx, state.Pending{Type: state.Creating, Resource: a}); err != nil {
						return err
					}
					if err := r.End(ctx, state.Change{Begun: a, Add: a}); err != nil {
						return err
					}
					recorded.Add(1)
				}
				if err := r.Close(ctx); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	b, notes := f.listening()
	theirs := b.stack(s.Ref())
	for reading := true; reading; {
		select {
		case err := <-done:
			require.NoError(t, err)
			reading = false
		default:
		}
		before := recorded.Load()
		snapshot, err := theirs.Load(ctx)
		require.NoError(t, err)
		require.GreaterOrEqual(t, int64(len(snapshot.Resources)), before)
	}
	for _, n := range *notes {
		require.Contains(t, n, "What is read is a moment of it, with ")
	}
}
