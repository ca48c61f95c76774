// Package gc adapts the garbage collector to a command, whose heap is small most of the time. As it is, the collector would run some times before
// main, and took a quarter of the time of a command.
//
// It does not run until the heap has 64 MB; most commands end before, and start none of its threads. Later it runs when the heap has twice the size of
// what is in use, plus 64 MB. A larger GOGC would not guarantee that for large stacks. Nothing of this is done if GOGC or GOMEMLIMIT is set.
//
// Go initializes packages in the order of their paths, imported ones first. This package imports little, so it comes before nearly all packages that
// allocate much: those are below golang.org and google.golang.org, or import one that is.
//
// Invariant: the collector is adapted before the packages of Protocol Buffers are initialized.
package gc

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	spare = 64 << 20 // bytes by which the heap may always grow
	usual = 100      // GOGC, in percent
	least = 4 << 20  // bytes that any heap may have with the usual GOGC; the runtime multiplies them by it
)

var adapted = adapt(os.Getenv)

func adapt(getenv func(string) string) bool {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if getenv(name) != "" {
			return false
		}
	}
	debug.SetGCPercent(usual * spare / least)
	return true
}

// Follow sets the limit of the memory and what the heap may grow to, each time that the collector has run.
func Follow() {
	runtime.AddCleanup(new(mark), func(struct{}) {
		Limit()
		if adapted {
			debug.SetGCPercent(percent(live()))
			Follow()
		}
	}, struct{}{})
}

// mark is unused from the beginning, so that the next collection finds it.
type mark struct{ _ [32]byte }

// percent returns the growth, in percent of the bytes in use, that leaves the usual growth and the spare bytes.
func percent(live uint64) int {
	return usual + int(usual*spare/max(live, least))
}

func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// memoryShare is the part of the machine's memory, or of the control group's, that sluice uses. Programs and plugins need the rest.
const memoryShare = 0.8

// Limit makes the collector run more often when memory gets scarce, instead of letting the heap double, and returns the limit, at which the engine refuses
// more resources. GOMEMLIMIT takes precedence. If the size of the memory is unknown, there is no limit, and the result is 0. Reading the size takes half
// a millisecond, so it is done by what needs the limit.
func Limit() uint64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
		limit = debug.SetMemoryLimit(-1)
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return uint64(limit)
}
