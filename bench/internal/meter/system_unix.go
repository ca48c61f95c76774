//go:build unix

package meter

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// workSoFar returns the processor time of this process so far, 0 if the system does not provide it.
func workSoFar() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// usageOf returns the largest amount of memory that a process used, and the number of bytes that it wrote to disks. The
// latter includes the processes that it started and waited for.
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
