//go:build !unix

package meter

import (
	"os"
	"time"
)

// workSoFar returns the processor time of this process so far, which is not known on this system.
func workSoFar() time.Duration { return 0 }

// usageOf returns the resource usage of a process, which is not known on this system.
func usageOf(*os.ProcessState) (peak, written int64) { return 0, 0 }
