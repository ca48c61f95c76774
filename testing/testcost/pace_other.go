//go:build !linux

package main

import "time"

// threadTime returns 0: the processor time of a thread is not known.
func threadTime(func()) time.Duration { return 0 }
