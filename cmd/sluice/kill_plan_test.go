//go:build !windows

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// victims are the processes, or the connection, that are cut off in a round.
type victims int

const (
	everybody     victims = iota // the engine and every process that it has started
	theEngine                    // its guards end its processes
	theProvider                  // the engine continues
	theGuards                    // and the engine: its processes go on until another engine takes over
	theSession                   // the engine, whose plugin has a session of its own and goes on even after a takeover
	theConnection                // with the state, for a moment
	kinds
)

func (v victims) String() string {
	return [...]string{"everybody", "engine", "provider", "engine and guards", "engine without plugin", "connection"}[v]
}

// program selects the resources that an update declares.
type program struct{ first, count, more, zone, site int }

// plan describes one round.
type plan struct {
	program program // the program of the round
	op      operation
	flags   []string // of the operation
	engines int      // that start at once
	choice  uint64   // a seed for what comes before the operation, and for its targets

	who           victims
	all           bool          // engines, or only the first one
	fromFirstCall bool          // after counts from the first change of an object instead of from the start
	after         time.Duration // when the cut happens
	outage        time.Duration // how long the connection is cut

	reader    []string // a command that reads during the update; nil for none
	readAfter time.Duration

	killRecovery  bool // the first command afterwards, which recovers, is killed
	recoveryAfter time.Duration
	next          bool // there is another update before uncertain outcomes are resolved
	ends          bool // the round ends with a destroy instead of an update
}

// plan draws a plan.
func (c *chaos) plan(seed uint64) plan {
	random := rand.New(rand.NewPCG(seed, c.place))
	oneOf := func(n int) bool { return random.IntN(n) == 0 }
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	p := plan{
		program: program{random.IntN(30), 30 + random.IntN(30), random.IntN(2), random.IntN(2), random.IntN(2)},
		flags: []string{
			"--parallel", strconv.Itoa(1 + random.IntN(12)), "--checkpoint", []string{"timed", "timed", "end", "every-step"}[random.IntN(4)],
		},
		engines: 1, who: victims(random.IntN(int(kinds))), all: oneOf(2), fromFirstCall: !oneOf(4), outage: upTo(time.Second),
		readAfter: upTo(c.usual), killRecovery: oneOf(5), recoveryAfter: upTo(c.usual / 4), next: oneOf(3),
	}
	p.op, p.choice, p.ends = operation((seed+c.place)%uint64(operations)), random.Uint64(), oneOf(6)
	if p.op == aTurnover {
		other := 2 + int(seed%1000)
		p.program.more, p.program.zone, p.program.site = other, other, other
	}
	if oneOf(5) && p.op.canBeRepeated() {
		p.engines = 2
	}
	if oneOf(3) {
		p.reader = [][]string{{"stack", "output", "round"}, {"stack", "export"}}[random.IntN(2)]
	}
	p.fromFirstCall = p.fromFirstCall && p.op.changesObjects()
	p.after = upTo(c.usual)
	if p.fromFirstCall {
		p.after = upTo(c.working)
	}
	if p.op.isShort() {
		p.after /= 2
	}
	if p.who == theConnection && c.states.link == nil {
		p.who = everybody
	}
	return p
}

func (p plan) String() string {
	text := fmt.Sprintf("%d resources from %d on; %s %s; %s", p.program.count, p.program.first, p.op, strings.Join(p.flags, " "), p.who)
	if p.who == theConnection {
		text += fmt.Sprintf(" for %s", p.outage.Round(time.Millisecond))
	}
	since := "start"
	if p.fromFirstCall {
		since = "first call"
	}
	text += fmt.Sprintf(" cut off %s after the %s", p.after.Round(time.Millisecond), since)
	if p.engines > 1 {
		text += fmt.Sprintf(", %d engines", p.engines)
	}
	if p.reader != nil {
		text += ", " + strings.Join(p.reader, " ") + " meanwhile"
	}
	if p.killRecovery {
		text += ", the recovery killed"
	}
	if p.next {
		text += ", another update before that"
	}
	if p.ends {
		text += ", and a destroy at the end"
	}
	return text
}

// environment returns the variables of the engines.
func (p plan) environment() []string {
	if p.who != theSession {
		return nil
	}
	return []string{"SIMPLE_SESSION=1"}
}

// command is a command that was started.
type command struct {
	cmd     *exec.Cmd
	out     *bytes.Buffer
	over    atomic.Bool
	watcher conc.WaitGroup
}

// start starts a command with variables of its own.
func (c *chaos) start(environment []string, args ...string) *command {
	cmd, out := c.command(args...)
	cmd.Env = slices.Concat(cmd.Env, environment)
	e := &command{cmd: cmd, out: out}
	require.NoError(c, cmd.Start())
	e.watcher.Go(func() {
		_ = cmd.Wait() // the exit status is checked later
		e.over.Store(true)
	})
	c.commands = append(c.commands, e)
	return e
}

func (e *command) wait() { e.watcher.Wait() }

// status returns the exit status; -1 if the command was killed.
func (e *command) status() int { return e.cmd.ProcessState.ExitCode() }

// kill kills the process and nothing else.
func (e *command) kill() { _ = e.cmd.Process.Kill() }

// strike cuts off the victims of the plan, and reports whether there were any.
func (c *chaos) strike(p plan, engines []*command) bool {
	if !p.all {
		engines = engines[:1]
	}
	engines = slices.DeleteFunc(slices.Clone(engines), func(e *command) bool { return e.over.Load() })
	switch p.who {
	case theProvider:
		pids := running(c.plugin)
		killAll(pids)
		return len(pids) > 0
	case theConnection:
		c.states.link.Cut()
		time.Sleep(p.outage)
		c.states.link.Mend()
		return true
	}
	for _, e := range engines {
		pid := e.cmd.Process.Pid
		_ = syscall.Kill(pid, syscall.SIGSTOP) // it starts nothing in the meantime
		switch p.who {
		case everybody:
			killAll(below(pid))
		case theGuards:
			killAll(slices.DeleteFunc(below(pid), func(child int) bool { return !isGuard(child) }))
		}
		e.kill()
	}
	return len(engines) > 0
}

func killAll(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// running lists the processes of an executable. It finds none if the system has no /proc.
func running(program string) []int {
	return processes(func(pid int) bool {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return err == nil && target == program
	})
}

// below lists the descendants of a process.
func below(pid int) []int {
	children := processes(func(child int) bool {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		return len(fields) > 1 && fields[1] == strconv.Itoa(pid)
	})
	all := children
	for _, child := range children {
		all = slices.Concat(all, below(child))
	}
	return all
}

// isGuard reports whether a process is a shell that kills others after the engine has died.
func isGuard(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(line, []byte("sluice-guard"))
}

func processes(is func(pid int) bool) []int {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	var pids []int
	for _, folder := range folders {
		if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil && is(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
