package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var sizes = []int{1_000, 10_000, 100_000}

// deployment has one provider per thousand nodes, components every hundred, and about three edges per node.
func deployment(n int) *Builder {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	b := &Builder{}
	b.AddNodes(n)
	b.Grow(3 * n)
	for i := 1; i < n; i++ {
		b.AddEdge(ID(i), ID(i/1000*1000)%ID(i), Provider)
		if c := i / 100 * 100; c < i && c > 0 {
			b.AddEdge(ID(i), ID(c), Parent)
		}
		b.AddEdge(ID(i), ID(max(0, i-1-random.IntN(500))), Dependency|PropertyDependency)
	}
	return b
}

func shapes(n int) map[string]*Graph {
	return map[string]*Graph{"mixed": deployment(n).Graph(), "chain": chain(n), "star": star(n)}
}

func bySize(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			run(b, n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		builder := deployment(n)
		for b.Loop() {
			builder.Graph()
		}
	})
}

func BenchmarkGrow(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		g := deployment(n).Graph()
		for b.Loop() {
			var grown Graph
			for id := range ID(n) {
				grown.AddNode(g.Dependencies(id)...)
			}
		}
	})
}

func BenchmarkTopologicalOrder(b *testing.B) {
	benchmarkShapes(b, func(g *Graph, nodes []ID) {
		if _, err := g.TopologicalOrder(Order{Priority: func(id ID) int64 { return -int64(id) }}); err != nil {
			panic(err)
		}
	})
}

func BenchmarkAntichains(b *testing.B) {
	benchmarkShapes(b, func(g *Graph, nodes []ID) {
		if _, err := g.Antichains(nodes, Scope{}); err != nil {
			panic(err)
		}
	})
}

func BenchmarkReadySet(b *testing.B) {
	benchmarkShapes(b, func(g *Graph, nodes []ID) {
		list, err := g.Schedule(nodes, Schedule{Direction: DependentsFirst})
		if err != nil {
			panic(err)
		}
		var r ReadySet
		for i, entry := range list {
			r.Add(ID(i), entry.After...)
		}
		for id, ok := r.Next(); ok; id, ok = r.Next() {
			r.Finish(id)
		}
	})
}

func BenchmarkClosure(b *testing.B) {
	benchmarkShapes(b, func(g *Graph, nodes []ID) {
		ReplaceClosure(g, 0, 0, nil, func(id ID, _ func(ID) bool) bool { return id%3 > 0 })
	})
}

func BenchmarkExpandComponents(b *testing.B) {
	benchmarkShapes(b, func(g *Graph, nodes []ID) {
		g.ExpandComponents(Components{IsComponent: func(id ID) bool { return id%100 == 0 }})
	})
}

func benchmarkShapes(b *testing.B, run func(g *Graph, nodes []ID)) {
	for _, shape := range []string{"mixed", "chain", "star"} {
		b.Run(shape, func(b *testing.B) {
			bySize(b, func(b *testing.B, n int) {
				g, nodes := shapes(n)[shape], ids(n)
				for b.Loop() {
					run(g, nodes)
				}
			})
		})
	}
}

// A closure with few candidates must not pay for the graph around it.
func BenchmarkSmallClosure(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := chain(n)
			b.ReportAllocs()
			for b.Loop() {
				NewClosure(g, ID(n-10), 0, nil)
			}
		})
	}
}
