//go:build unix

package process

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

// Lead makes a command that is not started yet lead a group, without the guard of [Start].
func Lead(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	passInterrupts()
}

// passInterrupts makes new processes react to interrupts if this one ignores them, as it does if a shell has started it in the background: processes
// inherit ignored signals, and most programs go on to ignore them. This process discards them from then on, unless it handles them.
func passInterrupts() {
	if signal.Ignored(syscall.SIGINT) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	}
}

// InterruptGroup is [Group.Interrupt] for callers that have only the leader, such as a [exec.Cmd.Cancel].
func InterruptGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGINT) }

// KillGroup is [Group.Kill] for callers that have only the leader.
func KillGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// guard is a shell that kills the group unless it reads a line before its input ends. The zero guard does nothing.
type guard struct {
	shell *exec.Cmd
	line  *os.File
}

const script = `read -r line || kill -s KILL -- "-$1"`

func guardGroup(leader *os.Process) guard {
	read, write, err := os.Pipe()
	if err != nil {
		return guard{}
	}
	defer func() { _ = read.Close() }()
	shell := exec.Command("/bin/sh", "-c", script, "sluice-guard", strconv.Itoa(leader.Pid))
	shell.Stdin, shell.Dir, shell.Env = read, "/", []string{}
	Lead(shell)
	if shell.Start() != nil {
		_ = write.Close()
		return guard{}
	}
	return guard{shell: shell, line: write}
}

func (g guard) kill(leader *os.Process) { KillGroup(leader) }

func (g guard) dismiss() {
	if g.shell == nil {
		return
	}
	_, _ = g.line.WriteString("end\n")
	_ = g.line.Close()
	_ = g.shell.Wait()
}
