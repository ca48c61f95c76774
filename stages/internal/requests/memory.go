package requests

import (
	"fmt"
	"math"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// memoryCheck bounds how often the memory is checked. Programs register many resources in a millisecond only if these are small.
type memoryCheck struct {
	began time.Time
	next  atomic.Int64 // in nanoseconds since began; no check is due before
}

// isDue reports whether a millisecond has passed since it last returned true.
func (c *memoryCheck) isDue() bool {
	now := int64(time.Since(c.began))
	due := c.next.Load()
	return now >= due && c.next.CompareAndSwap(due, now+int64(time.Millisecond))
}

// memory has the bytes that the process uses, and the limit. A limit of [math.MaxInt64] is none.
type memory struct{ used, limit uint64 }

// memoryNow reads the bytes that the garbage collector has last found in use, with the stacks of the waiting requests, and the
// limit of the collector (GOMEMLIMIT, or the one that the command line has chosen for the machine). It costs about a microsecond.
func memoryNow() memory {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return memory{used: samples[0].Value.Uint64() + samples[1].Value.Uint64(), limit: samples[2].Value.Uint64()}
}

// full returns an error if the memory in use leaves no room for another resource. The rest is for admitted requests: their outputs
// and records, and the checkpoint at the end, which is as long as everything together. A process that the system kills for its
// memory would leave a state that does not fit into it either.
func (m memory) full() error {
	if m.limit == math.MaxInt64 || m.used <= m.limit/2 {
		return nil
	}
	return fmt.Errorf("there is too little memory for more resources: what the program has registered takes %.1f of %.1f GB, and the rest "+
		"is needed to record it; keep long texts in files, as assets, split the stack, or use a machine with more memory",
		gigabytes(m.used), gigabytes(m.limit))
}

func gigabytes(n uint64) float64 { return float64(n) / 1e9 }
