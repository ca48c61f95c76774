//go:build unix

package command

import (
	"os/exec"
	"syscall"
	"time"
)

// isolate makes the end of the context kill the command and everything that it started, not only its shell.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A process that left the group may keep the pipes open.
	cmd.WaitDelay = 5 * time.Second
}
