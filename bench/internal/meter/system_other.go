//go:build !unix

package meter

import (
	"os"
	"time"
)

// children returns 0, because this system does not report the processor time.
func children() time.Duration { return 0 }

// usageOf returns zeros, because the resource usage of a process is unknown on this system.
func usageOf(*os.ProcessState) (peak, written int64) { return 0, 0 }
