//go:build unix

package processes

import (
	"os/exec"
	"syscall"
)

// leads makes a process that is not started yet lead a group.
func leads(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
