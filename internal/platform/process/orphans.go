package process

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// variable is the environment variable that names the engine: its PID, its start time, and its session.
const variable = "SLUICE_ENGINE"

// mark returns the variable for this process as the engine.
func mark() string {
	s, _ := statusOf(os.Getpid())
	return markOf(os.Getpid(), s.start, s.session)
}

func markOf(pid int, start, session string) string {
	return fmt.Sprintf("%s=%d.%s.%s", variable, pid, start, session)
}

// Orphan is a process that a dead engine has left.
type Orphan struct {
	PID     int
	Command string // the name of the executable
	start   string
}

func (o Orphan) String() string { return fmt.Sprintf("%s (pid %d)", o.Command, o.PID) }

func (o Orphan) lives() bool { return StartOf(o.PID) == o.start }

const (
	// patience limits how long an orphan may take to end after an interrupt, and again how long the system may take to kill
	// it.
	patience = 5 * time.Second
	// pause is the time between two checks of an orphan.
	pause = 10 * time.Millisecond
)

// EndOrphans ends the processes that a dead engine has left on this machine: with an interrupt, and after five seconds with a
// kill. It returns them when they have ended, ordered by PID. The error names those that cannot be ended. It finds processes
// in the session of the engine; a process that has made a session of its own is meant to stay. It never ends this process or
// its ancestors. On systems that do not show the environments of processes it finds nothing.
func EndOrphans(ctx context.Context, pid int, start string) ([]Orphan, error) {
	orphans := orphansOf(pid, start)
	left := orphans
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		for _, o := range left {
			if p, err := os.FindProcess(o.PID); err == nil && o.lives() {
				_ = p.Signal(signal)
			}
		}
		if left = remaining(ctx, left); len(left) == 0 {
			return orphans, nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return orphans, err
	}
	return orphans, fmt.Errorf("these processes of the run that died (pid %d) still work and cannot be ended: %s; end them first", pid, Names(left))
}

// Names lists processes for people.
func Names(orphans []Orphan) string {
	var names []string
	for _, o := range orphans {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}

// remaining waits until the processes have ended, and returns those that have not ended in time.
func remaining(ctx context.Context, orphans []Orphan) []Orphan {
	left := slices.Clone(orphans)
	for end := time.Now().Add(patience); ; {
		left = slices.DeleteFunc(left, func(o Orphan) bool { return !o.lives() })
		if len(left) == 0 || ctx.Err() != nil || time.Now().After(end) {
			return left
		}
		_ = await.For(ctx, pause)
	}
}

// orphansOf finds the groups whose leaders still run. A group without its leader consists of background processes of a
// command.
func orphansOf(pid int, start string) []Orphan {
	if pid <= 0 || start == "" {
		return nil
	}
	var marked []Orphan
	groupOf := map[int]int{}
	mine := ancestors()
	for _, candidate := range processes() {
		s, ok := statusOf(candidate)
		if ok && !s.ended && !mine[candidate] && isMarked(candidate, markOf(pid, start, s.session)) {
			marked = append(marked, Orphan{PID: candidate, Command: s.command, start: s.start})
			groupOf[candidate] = s.group
		}
	}
	slices.SortFunc(marked, func(a, b Orphan) int { return cmp.Compare(a.PID, b.PID) })
	return slices.DeleteFunc(marked, func(o Orphan) bool {
		_, led := groupOf[groupOf[o.PID]]
		return !led
	})
}

// isMarked reports whether a process was started with a variable. It returns false if that cannot be determined, because the
// process belongs to another user, or has ended.
func isMarked(pid int, mark string) bool {
	environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && slices.Contains(strings.Split(string(environment), "\x00"), mark)
}

// ancestors returns this process and its ancestors.
func ancestors() map[int]bool {
	above := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !above[pid]; {
		above[pid] = true
		s, _ := statusOf(pid)
		pid = s.parent
	}
	return above
}
