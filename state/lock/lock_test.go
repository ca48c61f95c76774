package lock

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/state/store"
)

const folder = ".pulumi/locks/organization/p/dev"

func options(t *testing.T) Options { return in(t.TempDir()) }

func in(dir string) Options {
	d := store.NewDir(dir)
	d.KeepTidy(".pulumi/sluice/tmp", ".pulumi/locks/")
	return Options{Store: d, Folder: folder}
}

// put makes a file in the folder of the locks.
func put(t *testing.T, o Options, name, content string) {
	t.Helper()
	_, err := o.Store.Write(context.Background(), folder+"/"+name, []byte(content), store.Condition{})
	require.NoError(t, err)
}

func TestLockExcludesOthersUntilReleased(t *testing.T) {
	o := options(t)
	l, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	_, err = Acquire(context.Background(), o)
	var held *HeldError
	require.ErrorAs(t, err, &held)
	require.Len(t, held.Locks, 1)
	require.Equal(t, os.Getpid(), held.Locks[0].Owner.PID)
	require.ErrorContains(t, err, "locked by 1 lock. It is this process itself that holds it. Wait for its other operation on the stack to end.\n",
		"sluice cancel would refuse")
	require.ErrorContains(t, err, "; this is this process")
	require.NoError(t, l.Release())
	require.NoError(t, l.Release(), "a second release does nothing")
	again, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, again.Release())
	left, err := o.Store.List(context.Background(), "")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestHeldErrorHasTheTextThatScriptsKnow(t *testing.T) {
	o := options(t)
	put(t, o, "a.json", `{"pid":12,"username":"me","hostname":"box","timestamp":"2026-01-02T03:04:05.000000006Z","extra":1}`)
	put(t, o, "b.json", `{"pid":`)
	put(t, o, "b.json.attrs", "")
	put(t, o, "c.json", `{"pid":13,"username":"me","hostname":"box","timestamp":"2026-01-02T03:04:05Z","tool":"sluice",`+
		`"lease":{"run":"r","operation":"update","renewed":"2026-01-02T03:14:05Z","seconds":60}}`)
	url := "file://" + o.Store.Name(folder)
	_, err := Acquire(context.Background(), o)
	require.EqualError(t, err, "the stack is currently locked by 3 locks. Either wait for the other processes to end or delete "+
		"the lock files with `sluice cancel`.\n"+
		"  "+url+"/a.json: created by me@box (pid 12) at 2026-01-02T03:04:05Z\n"+
		"  "+url+"/b.json: created by an unknown owner: the lock file cannot be read\n"+
		"  "+url+"/c.json: created by me@box (pid 13) at 2026-01-02T03:04:05Z for update; it was last known to be alive at 2026-01-02T03:14:05Z")
	require.Equal(t, 3, breakAll(t, o))
	l, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, l.Release())
}

func TestNeverTwoHoldersAtOnce(t *testing.T) {
	o := options(t)
	var holders, taken atomic.Int32
	var wg conc.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := Acquire(context.Background(), o)
				if err != nil {
					continue
				}
				if holders.Add(1) > 1 {
					panic("two holders")
				}
				taken.Add(1)
				holders.Add(-1)
				if err := l.Release(); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	left, err := List(context.Background(), o)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Positive(t, taken.Load())
}

func TestLockOfADeadProcessOfOursIsTakenOver(t *testing.T) {
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	self := Self()
	if self.Boot == "" {
		t.Log("this system does not tell when it was booted: no owner is ever certainly dead")
	}
	dead := self
	dead.PID, dead.Start = cmd.Process.Pid, "1"
	for name, c := range map[string]struct {
		owner func(Owner) Owner
		taken bool
	}{
		"dead":              {func(o Owner) Owner { return o }, self.Boot != ""},
		"another tool":      {func(o Owner) Owner { o.Tool = ""; return o }, false},
		"another host":      {func(o Owner) Owner { o.Hostname = "elsewhere"; return o }, false},
		"another boot":      {func(o Owner) Owner { o.Boot = "earlier"; return o }, false},
		"unknown boot":      {func(o Owner) Owner { o.Boot = ""; return o }, false},
		"other PID space":   {func(o Owner) Owner { o.Namespace = "pid:[1]"; return o }, false},
		"PID used again":    {func(o Owner) Owner { o.PID = os.Getpid(); return o }, self.Start != "" && self.Boot != ""},
		"this very process": {func(Owner) Owner { return self }, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			owner := c.owner(dead)
			owner.Timestamp = time.Unix(1, 0)
			b, err := json.Marshal(owner)
			require.NoError(t, err)
			put(t, o, "stale.json", string(b))
			l, err := Acquire(context.Background(), o)
			if !c.taken {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.GiveBack())
			left, err := List(context.Background(), o)
			require.NoError(t, err)
			require.Len(t, left, 1, "what the dead process has left is not cleaned up")
			require.Equal(t, owner.PID, left[0].Owner.PID)
			l, err = Acquire(context.Background(), o)
			require.NoError(t, err)
			require.NoError(t, l.Release())
			left, err = List(context.Background(), o)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Its holder runs, so it is neither dead nor silent for long.
func TestALockThatWasGivenUpIsTakenOverByTheNextOne(t *testing.T) {
	for name, edit := range map[string]func(*Owner){
		"of this process":    func(*Owner) {},
		"of another process": func(o *Owner) { o.PID, o.Start = os.Getppid(), process.StartOf(os.Getppid()) },
		"of another machine": func(o *Owner) { o.Hostname = "elsewhere" },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			theirs := o
			theirs.Owner = Self()
			edit(&theirs.Owner)
			l, err := Acquire(context.Background(), theirs)
			require.NoError(t, err)
			_, err = Acquire(context.Background(), o)
			require.ErrorAs(t, err, new(*HeldError))

			require.NoError(t, l.GiveUp())
			require.ErrorAs(t, l.Check(context.Background()), new(*LostError))
			held, err := List(context.Background(), o)
			require.NoError(t, err)
			require.Len(t, held, 1, "other tools still see the file")
			require.True(t, held[0].HasEnded())
			require.Contains(t, held[0].Describe(), "left something that the next operation on the stack completes")

			next, err := Acquire(context.Background(), o)
			require.NoError(t, err)
			require.NoError(t, next.GiveBack(), "which did not complete what was left")
			next, err = Acquire(context.Background(), o)
			require.NoError(t, err)
			require.NoError(t, l.GiveUp(), "another time changes nothing")
			require.NoError(t, l.Release())
			require.NoError(t, next.Confirm(context.Background()))
			require.NoError(t, next.Release())
			held, err = List(context.Background(), o)
			require.NoError(t, err)
			require.Empty(t, held)
		})
	}
}

func TestALockIsHeldUntilItsFileSaysThatItWasGivenUp(t *testing.T) {
	o := options(t)
	s := &faulty{Store: o.Store}
	theirs := o
	theirs.Store = s
	l, err := Acquire(context.Background(), theirs)
	require.NoError(t, err)
	s.away.Store(true)
	err = l.GiveUp()
	require.ErrorIs(t, err, errAway)
	require.ErrorContains(t, err, "mark the lock file "+l.Path())
	_, err = Acquire(context.Background(), o)
	require.ErrorAs(t, err, new(*HeldError))
	s.away.Store(false)
	require.NoError(t, l.GiveUp())
	next, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, next.Release())
}

func TestProcessesExcludeEachOther(t *testing.T) {
	if dir := os.Getenv("SLUICE_LOCK_TEST_DIR"); dir != "" {
		o := in(dir)
		for range 30 {
			l, err := Acquire(context.Background(), o)
			if err != nil {
				continue
			}
			// A second holder would find the file and stop the test.
			f, err := os.OpenFile(dir+".held", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, os.Remove(dir+".held"))
			require.NoError(t, l.Release())
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "locks")
	var wg conc.WaitGroup
	var failed atomic.Int32
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesExcludeEachOther$")
			cmd.Env = append(os.Environ(), "SLUICE_LOCK_TEST_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				failed.Add(1)
				t.Logf("%s", out)
			}
		})
	}
	wg.Wait()
	require.Zero(t, failed.Load())
}
