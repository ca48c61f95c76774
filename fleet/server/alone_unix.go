//go:build unix

package server

import (
	"os/exec"
	"syscall"
)

// alone makes a command start in a session of its own, so that an interrupt at the terminal does not reach it.
func alone(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
