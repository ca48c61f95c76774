//go:build unix

package main

import (
	"os"
	"runtime"
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

// usageOf returns the most memory that a process had at once, and what it wrote to disks with those that it started and
// waited for, in bytes.
func usageOf(p *os.ProcessState) (peak, written int64) {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0
	}
	const block = 512
	unit := int64(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return u.Maxrss * unit, u.Oublock * block
}
