package requests

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice/internal/platform/memory"
	"github.com/sluice-iac/sluice/stages"
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

// memoryNow returns what an operation has added to the memory of the process until now.
func memoryNow(m stages.Memory) uint64 {
	live := memory.Live()
	return live - min(live, m.Before)
}

// full returns an error if what has been added leaves no room for another resource. The rest is for admitted requests: their outputs
// and records, and the checkpoint at the end, which is as long as everything together. A process that the system kills for its
// memory would leave a state that does not fit into it either.
func full(added, limit uint64) error {
	if limit == 0 || added <= limit/2 {
		return nil
	}
	return fmt.Errorf("there is too little memory for more resources: what the program has registered takes %.1f of %.1f GB, and the rest "+
		"is needed to record it; keep long texts in files, as assets, split the stack, or use a machine with more memory",
		gigabytes(added), gigabytes(limit))
}

func gigabytes(n uint64) float64 { return float64(n) / 1e9 }
