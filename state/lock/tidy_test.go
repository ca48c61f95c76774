//go:build linux || darwin

package lock

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
)

// A process that is killed while it takes the lock leaves a file. The next holder of the lock removes it. The file of a
// process that is only stopped stays, and the process goes on with it.
func TestWhatIsLeftOfALockIsRemovedUnlessItIsInUse(t *testing.T) {
	const name = "TestWhatIsLeftOfALockIsRemovedUnlessItIsInUse"
	if dir := os.Getenv("SLUICE_LOCK_TEST_TIDY"); dir != "" {
		stopAtMoment(t, dir, store.Moment(os.Getenv("SLUICE_LOCK_TEST_MOMENT")), os.Getenv("SLUICE_LOCK_TEST_SIGNAL"))
		return
	}
	for _, moment := range []store.Moment{store.Created, store.Written, store.Synced} {
		for _, signal := range []string{"KILL", "STOP"} {
			t.Run(signal+" "+string(moment), func(t *testing.T) {
				dir := t.TempDir()
				temporaries := func() []string {
					found, err := filepath.Glob(filepath.Join(dir, ".pulumi/sluice/tmp/*.tmp"))
					require.NoError(t, err)
					return found
				}
				cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
				cmd.Env = append(os.Environ(), "SLUICE_LOCK_TEST_TIDY="+dir, "SLUICE_LOCK_TEST_MOMENT="+string(moment), "SLUICE_LOCK_TEST_SIGNAL="+signal)
				cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
				require.NoError(t, cmd.Start())
				defer func() { _ = cmd.Process.Kill() }() // it has ended unless the test fails
				var status syscall.WaitStatus
				_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
				require.NoError(t, err)
				require.Equal(t, signal == "STOP", status.Stopped())
				require.Len(t, temporaries(), 1)

				l, err := Acquire(context.Background(), in(dir))
				require.NoError(t, err)
				require.NoError(t, l.Release())
				if signal == "KILL" {
					require.Empty(t, temporaries())
					return
				}
				require.Len(t, temporaries(), 1)
				require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
				require.NoError(t, cmd.Wait(), "it takes the lock")
				require.Empty(t, temporaries())
			})
		}
	}
}

// stopAtMoment takes the lock and gets a signal at a moment of writing the lock file.
func stopAtMoment(t *testing.T, dir string, moment store.Moment, signal string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}
	o := in(dir)
	o.Store.(*store.Dir).Crash = func(m store.Moment) error {
		if m != moment {
			return nil
		}
		moment = ""
		return syscall.Kill(os.Getpid(), signals[signal])
	}
	l, err := Acquire(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, l.Release())
}

func TestManyThatTidyAndTakeTheLockLoseNoFile(t *testing.T) {
	o := options(t)
	d := o.Store.(*store.Dir)
	deadline := time.Now().Add(time.Second)
	until := func(f func() error) func() {
		return func() {
			for time.Now().Before(deadline) {
				if err := f(); err != nil {
					panic(err)
				}
			}
		}
	}
	var wg conc.WaitGroup
	wg.Go(until(func() error { return d.Tidy() }))
	wg.Go(until(func() error { return d.Tidy() }))
	wg.Go(until(func() error {
		l, err := Acquire(context.Background(), o)
		if err != nil {
			return err
		}
		return l.Release()
	}))
	wg.Wait()
}
