//go:build linux

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/process"
)

func start(t *testing.T, script string) (*exec.Cmd, *process.Group) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	group, err := process.Start(cmd)
	require.NoError(t, err)
	t.Cleanup(func() { process.KillGroup(cmd.Process) })
	return cmd, group
}

// written waits until a file has a line, and returns it as a PID.
func written(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file) // it may not exist yet
		line, _, whole := strings.Cut(string(text), "\n")
		pid, _ = strconv.Atoi(line)
		return whole
	}, 5*time.Minute, time.Millisecond)
	return pid
}

func isOver(pid int) bool { s := process.StartOf(pid); return s == "" || s == "ended" }

func TestAKillEndsWhatTheLeaderHasStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	cmd, group := start(t, "sleep 10000 & echo $! > "+file+"; wait")
	child := written(t, file)
	group.Kill()
	require.Error(t, cmd.Wait())
	group.Release()
	require.Eventually(t, func() bool { return isOver(child) }, 5*time.Minute, time.Millisecond)
}

// A shell starts processes in the background with ignored interrupts.
func TestAnInterruptReachesAGroupOfABackgroundProcess(t *testing.T) {
	const background = "SLUICE_TEST_BACKGROUND"
	if os.Getenv(background) == "" {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command("/bin/sh", "-c", `trap "" INT; exec "$0" "$@"`, self, "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), background+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	cmd, group := start(t, "exec sleep 60")
	group.Interrupt()
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &ended)
	require.Equal(t, syscall.SIGINT, ended.Sys().(syscall.WaitStatus).Signal())
	group.Release()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT), "it is still ignored here")
}

func TestWhatIsLeftInTheBackgroundStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	cmd, group := start(t, "sleep 10000 & echo $! > "+file)
	require.NoError(t, cmd.Wait())
	group.Release()
	child := written(t, file)
	group.Kill() // too late to have an effect
	orphans, err := process.EndOrphans(t.Context(), os.Getpid(), process.StartOf(os.Getpid()))
	require.NoError(t, err)
	require.Empty(t, orphans)
	require.False(t, isOver(child))
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
}

// This process stands for the dead engine: whether it has died is not checked.
func TestOrphansAreInterruptedAndThenKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	cmd, group := start(t, "trap '' INT; sleep 10000 & echo $! > "+file+"; wait; wait")
	child := written(t, file)
	polite, politeGroup := start(t, "exec sleep 10000")
	orphans, err := process.EndOrphans(t.Context(), os.Getpid(), process.StartOf(os.Getpid()))
	require.NoError(t, err)
	require.Contains(t, process.Names(orphans), "(pid "+strconv.Itoa(child)+")") // it may not be sleep yet
	require.Contains(t, process.Names(orphans), "(pid "+strconv.Itoa(cmd.Process.Pid)+")")
	require.Len(t, orphans, 3)
	require.ErrorContains(t, cmd.Wait(), "killed")
	require.ErrorContains(t, polite.Wait(), "interrupt")
	group.Release()
	politeGroup.Release()

	orphans, err = process.EndOrphans(t.Context(), os.Getpid(), "another start")
	require.NoError(t, err)
	require.Empty(t, orphans)
}
