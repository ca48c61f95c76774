// Package fuzzing has the common parts of the fuzz targets for decoders.
//
// Invariant: it measures only the allocations of the function under test, not those of other tests: it is for fuzz targets,
// which run one input at a time.
package fuzzing

import (
	"runtime"
	"testing"
)

// fixed is the number of bytes that decoding may allocate for any input: tables, buffers, and allocations of the runtime.
const fixed = 1 << 20

// Bound calls decode, and fails the test if that allocates more than perByte bytes for each byte of the input. A decoder
// that trusts a declared length, or copies its input for each level of nesting, allocates more.
func Bound(t testing.TB, input, perByte int, decode func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	decode()
	runtime.ReadMemStats(&after)
	if spent, limit := after.TotalAlloc-before.TotalAlloc, uint64(fixed+perByte*input); spent > limit {
		t.Errorf("decoding %d bytes allocated %d bytes, and %d would be in proportion", input, spent, limit)
	}
}
