package shape

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAResourceNeedsOnlyThoseBeforeIt(t *testing.T) {
	for _, name := range All() {
		for _, size := range []int{1, 2, 9, 10, 11, 100, 257} {
			depths, managed := make([]int, size), 0
			for i := range size {
				r := Of(name, size, i)
				require.Less(t, r.Parent, i, "%s %d of %d", name, i, size)
				if r.Parent >= 0 {
					require.True(t, Of(name, size, r.Parent).Component, "%s: the parent of %d of %d", name, i, size)
				}
				depths[i] = 1
				for _, n := range r.Needs {
					require.Less(t, n, i, "%s %d of %d", name, i, size)
					require.GreaterOrEqual(t, n, 0)
					depths[i] = max(depths[i], depths[n]+1)
				}
				if !r.Component {
					managed++
				}
			}
			if name != Hubs || size > hubs {
				require.Equal(t, slices.Max(depths), Depth(name, size), "%s of %d", name, size)
			}
			require.Equal(t, managed, Managed(name, size), "%s of %d", name, size)
		}
	}
}
