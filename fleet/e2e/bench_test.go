package e2e

import (
	"flag"
	"fmt"
	"testing"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"
)

var benchStacks = flag.Int("fleet.bench", 12, "how many stacks benchmarks have")

// BenchmarkUnchanged previews stacks that have not changed: with the command in a loop, with four of them at a time, and as a fleet. The overhead of
// the fleet is the difference to the loop in "changed", where every stack is previewed.
//
//	go test ./e2e -run '^$' -bench Unchanged -fleet.bench 300 -benchtime 1x -timeout 1h
func BenchmarkUnchanged(b *testing.B) {
	p := newPlace(b, layered(*benchStacks, 3, "0s"))
	p.fleet("up", "--yes")
	preview := func(i int) {
		out, status := p.run("sluice", "-C", fmt.Sprintf("stacks/s%03d", i), "preview", "--stack", "dev")
		require.Equal(b, 0, status, out)
	}
	b.Run("loop", func(b *testing.B) {
		for range b.N {
			for i := range *benchStacks {
				preview(i)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		for range b.N {
			at := pool.New().WithMaxGoroutines(4)
			for i := range *benchStacks {
				at.Go(func() { preview(i) })
			}
			at.Wait()
		}
	})
	b.Run("fleet", func(b *testing.B) {
		for range b.N {
			require.Contains(b, p.fleet("preview", "--concurrency", "4"), fmt.Sprintf("%d unchanged", *benchStacks))
		}
	})
	b.Run("fleet/changed", func(b *testing.B) {
		for range b.N {
			require.Contains(b, p.fleet("preview", "--concurrency", "4", "--force"), fmt.Sprintf("%d succeeded", *benchStacks))
		}
	})
	b.Run("fleet/changed one by one", func(b *testing.B) {
		for range b.N {
			require.Contains(b, p.fleet("preview", "--concurrency", "1", "--force"), fmt.Sprintf("%d succeeded", *benchStacks))
		}
	})
}
