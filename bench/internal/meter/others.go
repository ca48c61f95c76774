package meter

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/platform/cputime"
)

// WatchOthers returns a function that returns the share of the processors, from 0 to 1, that programs other than this one and those that it has
// started and that have ended used since then. It is negative if the system does not report it.
func WatchOthers() func() float64 {
	began, all, own := time.Now(), busySoFar(), cputime.SoFar()+children()
	return func() float64 {
		now, elapsed := busySoFar(), time.Since(began)
		if all < 0 || now < all || elapsed <= 0 {
			return -1
		}
		used := now - all - (cputime.SoFar() + children() - own)
		return max(0, used.Seconds()/elapsed.Seconds()/float64(runtime.NumCPU()))
	}
}

// tick is the unit of /proc/stat: Linux reports hundredths of a second on all systems.
const tick = 10 * time.Millisecond

// busySoFar returns how long all processors have worked together since the start of the system, -1 if that is unknown.
func busySoFar() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, idle, wait, interrupts, soft, stolen int64
	if _, err := fmt.Sscanf(first, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &interrupts, &soft, &stolen); err != nil {
		return -1
	}
	return time.Duration(user+nice+system+interrupts+soft+stolen) * tick
}
