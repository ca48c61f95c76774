package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAntichainsAreWhatIsFreeInEachRound(t *testing.T) {
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

// The work is one visit for each node and, at each visit, one look along the node's edges. A loop that looks at every
// remaining node in every round takes a number of visits that grows with the square.
func TestEachNodeIsVisitedOnceAndEachEdgeKeptOnce(t *testing.T) {
	for name, g := range map[string]*Graph{"chain": chain(5000), "star": star(5000)} {
		t.Run(name, func(t *testing.T) {
			s := g.induce(nil, 0, false)
			require.Len(t, s.dependencies.to, 4999)
			require.Len(t, s.dependents.to, 4999)
			visits := make([]int, 5000)
			require.NoError(t, s.visitTopologically(func(i int32) { visits[i]++ }))
			for _, n := range visits {
				require.Equal(t, 1, n)
			}
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
