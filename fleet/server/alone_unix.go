//go:build unix

package server

import (
	"os/exec"
	"syscall"
)

// alone gives a process a session of its own: an interrupt at the terminal does not reach it.
func alone(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
