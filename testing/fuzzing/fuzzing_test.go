package fuzzing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

var sink []byte

func TestAllocationsInProportionPassAndOthersFail(t *testing.T) {
	allocate := func(n int) bool {
		r := &recorder{TB: t}
		Bound(r, 1<<20, 4, func() { sink = make([]byte, n) })
		return r.failed
	}
	require.False(t, allocate(4<<20))
	require.True(t, allocate(6<<20))
}
