//go:build !unix

package cputime

import "time"

// SoFar returns the processor time of this process so far, which this system does not say.
func SoFar() time.Duration { return 0 }
