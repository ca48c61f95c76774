//go:build unix

package meter

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// children returns the processor time of the processes that this one has started and waited for, with theirs.
func children() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// usageOf returns the maximal memory of a process, and the number of bytes that it wrote to disks. The latter includes
// its child processes that it waited for.
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
