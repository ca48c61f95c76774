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

// shell runs a script and returns its exit and its lines, each with its stream in front, sorted.
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
	_, _, err := shell(ctx, `sleep 10000 >/dev/null 2>&1 & echo $!; wait`, func(line string) {
		child, _ = strconv.Atoi(strings.TrimSpace(line))
		cancel(why)
	})
	require.ErrorIs(t, err, why)
	require.NotZero(t, child)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) }, 5*time.Minute, 5*time.Millisecond)
}

func TestWhatAProgramLeavesRunningIsEnded(t *testing.T) {
	var child int
	exit, _, err := shell(context.Background(), `sleep 10000 >/dev/null 2>&1 & echo $!`, func(line string) {
		child, _ = strconv.Atoi(strings.TrimSpace(line))
	})
	require.NoError(t, err)
	require.Zero(t, exit.Code)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) }, 5*time.Minute, 5*time.Millisecond)
}

func TestARunOfWhatDoesNotExistIsAnError(t *testing.T) {
	_, err := Run(context.Background(), Command{Name: "the program", Executable: "/no/such/file"})
	require.ErrorContains(t, err, "start the program: ")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = shell(ctx, `exit 0`, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// taken takes the lines of a tool, as Intercept, and keeps them with the number of the process.
type taken struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (k *taken) take(pid int, line string) bool {
	if !strings.HasPrefix(line, "tool") {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines = append(k.lines, fmt.Sprintf("%d %s", pid, line))
	return true
}

// sorted returns the lines, with PID in place of the number of a process.
func (k *taken) sorted(pid string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := slices.Clone(k.lines)
	for i, line := range lines {
		lines[i] = strings.Replace(line, pid+" ", "PID ", 1)
	}
	slices.Sort(lines)
	return lines
}

func TestLinesOfAToolAreNotThoseOfTheProcess(t *testing.T) {
	var tool taken
	var pid string
	exit, err := Run(context.Background(), Command{
		Name: "the script", Executable: "/bin/sh", Intercept: tool.take,
		Args: []string{"-c", `echo tool listens; echo tool warns >&2; echo $$; echo no tool >&2; exit 7`},
		Output: func(l Line) {
			if !l.Stderr {
				pid = l.Text
			}
		},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"PID tool listens", "PID tool warns"}, tool.sorted(pid))
	require.NotContains(t, exit.Output, "tool listens")
	require.NotContains(t, exit.Output, "tool warns")
	require.Contains(t, exit.Output, "no tool")
}

func TestAPluginWritesItsPortAfterTheLinesOfATool(t *testing.T) {
	var tool taken
	p, err := Start(Command{
		Name: "the plugin", Executable: "/bin/sh", Intercept: tool.take,
		Args: []string{"-c", `printf 'tool listens\r\n'; echo tool warns >&2; echo 1234; echo tool ends; echo the plugin ends`},
	})
	require.NoError(t, err)
	port, err := p.Port(context.Background())
	require.NoError(t, err)
	require.Equal(t, 1234, port)
	require.Error(t, p.AwaitExit(t.Context()))
	p.Stop()
	require.Equal(t, []string{"PID tool ends", "PID tool listens", "PID tool warns"}, tool.sorted(strconv.Itoa(p.PID())))
	require.Equal(t, "it wrote:\n  the plugin ends", p.LastOutput())
}
