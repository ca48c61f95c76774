package main

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of a function that waits for nothing.
func threadTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &before) != nil {
		return 0
	}
	f()
	if unix.Getrusage(unix.RUSAGE_THREAD, &after) != nil {
		return 0
	}
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}
