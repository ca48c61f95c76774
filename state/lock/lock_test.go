package lock

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

func options(t *testing.T) Options {
	dir := t.TempDir()
	return Options{Dir: filepath.Join(dir, "locks", "organization", "p", "dev"), TempDir: filepath.Join(dir, "sluice")}
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
	require.NoError(t, l.Release())
	require.NoError(t, l.Release(), "a second release does nothing")
	again, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, again.Release())
	entries, err := os.ReadDir(o.TempDir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestHeldErrorHasTheTextThatScriptsKnow(t *testing.T) {
	o := options(t)
	o.URL = func(p string) string { return "file:///state/" + filepath.Base(p) }
	require.NoError(t, os.MkdirAll(o.Dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, "a.json"),
		[]byte(`{"pid":12,"username":"me","hostname":"box","timestamp":"2026-01-02T03:04:05.000000006Z","extra":1}`), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, "b.json"), []byte(`{"pid":`), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, "b.json.attrs"), nil, 0o666))
	_, err := Acquire(context.Background(), o)
	require.EqualError(t, err, "the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or delete "+
		"the lock file with `sluice cancel`.\n"+
		"  file:///state/a.json: created by me@box (pid 12) at 2026-01-02T03:04:05Z\n"+
		"  file:///state/b.json: created by an unknown owner: the lock file cannot be read")
	n, err := Break(o)
	require.NoError(t, err)
	require.Equal(t, 2, n)
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
	left, err := List(o)
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
			stale := o
			stale.Owner = c.owner(dead)
			stale.Owner.Timestamp = time.Unix(1, 0)
			require.NoError(t, stale.write(filepath.Join(o.Dir, "stale.json")))
			l, err := Acquire(context.Background(), o)
			if !c.taken {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.Release())
		})
	}
}

func TestProcessesExcludeEachOther(t *testing.T) {
	if dir := os.Getenv("SLUICE_LOCK_TEST_DIR"); dir != "" {
		o := Options{Dir: dir, TempDir: dir + ".tmp"}
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
