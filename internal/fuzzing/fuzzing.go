// Package fuzzing has what the fuzz targets of decoders share.
//
// Invariant: what it measures is what the function under test has allocated, and nothing of other tests: it is for fuzz
// targets, which run one input at a time.
package fuzzing

import (
	"runtime"
	"testing"
)

// fixed is what decoding may allocate whatever the size of the input: tables, buffers, and what the runtime does meanwhile.
const fixed = 1 << 20

// Bound calls decode, and fails the test if that allocates more than perByte bytes for each byte of the input. A decoder
// that believes a declared length, or copies what it has read again for each level of nesting, allocates more.
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
