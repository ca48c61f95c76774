//go:build !unix

package simulate

import "time"

// work returns the processor time of this process so far, which this system does not say.
func work() time.Duration { return 0 }
