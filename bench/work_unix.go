//go:build unix

package main

import (
	"syscall"
	"time"
)

// workSoFar is how much time processors have worked for this process, 0 if the system does not say.
func workSoFar() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
