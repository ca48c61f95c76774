package admit

import (
	"fmt"
	"math"
	"runtime/metrics"
)

// memory is what the process uses and may use, in bytes. A limit of [math.MaxInt64] is none.
type memory struct{ used, limit uint64 }

// memoryNow reads what the garbage collector has found in use most recently, with the stacks of the requests that wait, and
// the limit that it respects (GOMEMLIMIT, or what the command line has found out about the machine). It costs about a
// microsecond.
func memoryNow() memory {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return memory{used: samples[0].Value.Uint64() + samples[1].Value.Uint64(), limit: samples[2].Value.Uint64()}
}

// full returns an error if what is in use leaves no room for another resource. The rest is for what has been admitted: its outputs,
// its records, and the checkpoint at the end, which is as long as everything together. A process that the system kills for
// its memory would leave a state that does not fit into it either.
func (m memory) full() error {
	if m.limit == math.MaxInt64 || m.used <= m.limit/2 {
		return nil
	}
	return fmt.Errorf("there is too little memory for more resources: what the program has registered takes %.1f of %.1f GB, and the rest "+
		"is needed to record it; keep long texts in files, as assets, split the stack, or use a machine with more memory",
		gigabytes(m.used), gigabytes(m.limit))
}

func gigabytes(n uint64) float64 { return float64(n) / 1e9 }
