package server

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// alone makes a command start in a console and a group of its own, so that an interrupt at the terminal does not reach it.
func alone(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
