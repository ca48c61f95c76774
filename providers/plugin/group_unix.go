//go:build !windows

package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the leader of a new process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interruptGroup and killGroup signal the group that the process leads. A group that has ended is no error.
func interruptGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGINT) }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
