package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps the console's Ctrl-C from the process.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interruptGroup does nothing: Windows has no interrupt for one group that is not of this console.
func interruptGroup(*os.Process) {}

func killGroup(p *os.Process) { _ = p.Kill() }
