//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"os"
	"syscall"
)

// Alone calls f while no other call of Alone for the same folder runs, in this process or another one. Where the system has no such locks, it only
// calls f.
func Alone(folder string, f func() error) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // which ends the lock
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return f() // a file system without locks gives an error
		}
	}
}
