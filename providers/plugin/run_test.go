//go:build !windows

package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shell runs a script and returns how it ended and its lines, each with its stream in front, sorted.
func shell(ctx context.Context, script string, onLine func(string)) (Exit, []string, error) {
	var mu sync.Mutex
	var lines []string
	exit, err := Run(ctx, Command{
		Name: "the script", Executable: "/bin/sh", Args: []string{"-c", script},
		Output: func(l Line) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, fmt.Sprintf("%v:%s", l.Stderr, l.Text))
			if onLine != nil {
				onLine(l.Text)
			}
		},
	})
	slices.Sort(lines)
	return exit, lines, err
}

func TestARunForwardsBothStreamsLineByLine(t *testing.T) {
	exit, lines, err := shell(context.Background(), `echo one; echo; echo two >&2; printf three; exit 7`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"false:one", "false:three", "true:two"}, lines)
	require.Equal(t, 7, exit.Code)
	require.Equal(t, "exit status 7", exit.Status)
	require.Contains(t, exit.Output, "three")
}

func TestARunThatASignalEndsSaysWhich(t *testing.T) {
	exit, _, err := shell(context.Background(), `kill -9 $$`, nil)
	require.NoError(t, err)
	require.Equal(t, Exit{Code: -1, Status: "signal: killed"}, exit)
}

func TestTheEndOfTheContextKillsTheWholeGroup(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	var child int
	_, _, err := shell(ctx, `sleep 600 >/dev/null 2>&1 & echo $!; wait`, func(line string) {
		child, _ = strconv.Atoi(strings.TrimSpace(line))
		cancel(why)
	})
	require.ErrorIs(t, err, why)
	require.NotZero(t, child)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) }, 30*time.Second, 5*time.Millisecond)
}

func TestWhatAProgramLeavesRunningIsEnded(t *testing.T) {
	var child int
	exit, _, err := shell(context.Background(), `sleep 600 >/dev/null 2>&1 & echo $!`, func(line string) {
		child, _ = strconv.Atoi(strings.TrimSpace(line))
	})
	require.NoError(t, err)
	require.Zero(t, exit.Code)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) }, 30*time.Second, 5*time.Millisecond)
}

func TestARunOfWhatDoesNotExistIsAnError(t *testing.T) {
	_, err := Run(context.Background(), Command{Name: "the program", Executable: "/no/such/file"})
	require.ErrorContains(t, err, "start the program: ")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = shell(ctx, `exit 0`, nil)
	require.ErrorIs(t, err, context.Canceled)
}
