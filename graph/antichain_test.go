package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAntichainsAreThoseOfTheSpecification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		kinds, condemned := drawKinds(t), drawSet(t, len(m), "condemned")
		g := m.build()
		got, err := g.Antichains(sorted(condemned), Scope{Kinds: kinds})
		require.NoError(t, err)
		require.Equal(t, m.layers(condemned, kinds), got)

		through := m.closed(kinds, func(id ID) bool { return !condemned[id] })
		got, err = g.Antichains(sorted(condemned), Scope{Kinds: kinds, ThroughOthers: true})
		require.NoError(t, err)
		require.Equal(t, through.layers(condemned, 0), got)
	})
}

func TestSurvivorSeparatesCondemnedNodesOnlyIfAsked(t *testing.T) {
	g := chain(3)
	direct, err := g.Antichains([]ID{0, 2}, Scope{})
	require.NoError(t, err)
	require.Equal(t, "0: n0 n2\n", LayersText(direct, number))
	through, err := g.Antichains([]ID{0, 2}, Scope{ThroughOthers: true})
	require.NoError(t, err)
	require.Equal(t, "0: 2\n1: 0\n", LayersText(through, nil))
}

func TestAntichainsOfNothing(t *testing.T) {
	got, err := chain(3).Antichains(nil, Scope{})
	require.NoError(t, err)
	require.Empty(t, got)
}

// The reference's cost grows with the square of a wide subset and worse than that with a chain. Allocated bytes stand in
// for work here: a step per pair would show in neither, so the steps themselves are counted.
func TestSettlingVisitsEachEdgeOnce(t *testing.T) {
	for name, g := range map[string]*Graph{"chain": chain(5000), "wide": star(5000)} {
		t.Run(name, func(t *testing.T) {
			s := g.induce(nil, 0, false)
			require.Len(t, s.dependencies.to, 4999)
			visits := 0
			require.NoError(t, s.settle(func(int32) { visits++ }))
			require.Equal(t, 5000, visits)
		})
	}
}

func star(n int) *Graph {
	var b Builder
	b.AddNodes(n)
	for i := 1; i < n; i++ {
		b.AddEdge(ID(i), 0, Provider)
	}
	return b.Graph()
}
