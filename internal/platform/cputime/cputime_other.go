//go:build !unix

package cputime

import "time"

// SoFar returns 0, because this system does not report the processor time.
func SoFar() time.Duration { return 0 }
