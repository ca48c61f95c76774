//go:build !unix

package main

import (
	"os"
	"time"
)

// workSoFar is how much time processors have worked for this process; here nobody says.
func workSoFar() time.Duration { return 0 }

// usageOf returns what a process has used; here nobody says.
func usageOf(*os.ProcessState) (peak, written int64) { return 0, 0 }
