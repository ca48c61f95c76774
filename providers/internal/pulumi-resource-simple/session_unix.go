//go:build unix

package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const sessionVariable = "SIMPLE_SESSION"

// runInSession runs the program again in a session of its own, and waits for it.
func runInSession() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Unsetenv(sessionVariable); err != nil {
		return err
	}
	child := exec.Command(path, os.Args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(os.Environ(), parentVariable+"="+strconv.Itoa(os.Getpid()))
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Run()
}
