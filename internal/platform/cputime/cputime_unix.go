//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// SoFar returns the processor time of this process so far, 0 if the system does not report it.
func SoFar() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
