package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGraphHoldsExactlyTheEdgesGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawCyclic(t)
		type edge struct {
			from, to ID
			kind     Kind
		}
		var edges []edge
		for from := range m {
			for to, kinds := range m[from] {
				for bit := Kind(1); bit <= ReplaceWith; bit <<= 1 {
					if kinds&bit != 0 {
						edges = append(edges, edge{ID(from), ID(to), bit})
					}
				}
			}
		}
		var grown Graph
		var b Builder
		for range m {
			require.Equal(t, b.AddNode(), grown.AddNode())
		}
		for _, e := range rapid.Permutation(edges).Draw(t, "order") {
			grown.AddEdge(e.from, e.to, e.kind)
			b.AddEdge(e.from, e.to, e.kind)
		}
		for _, g := range []*Graph{&grown, b.Graph(), m.build()} {
			require.Equal(t, len(m), g.Len())
			for from := range m {
				var deps, users []Edge
				for to := range m {
					require.Equal(t, m[from][to], g.Kinds(ID(from), ID(to)))
					if k := m[from][to]; k != 0 {
						deps = append(deps, Edge{ID(to), k})
					}
					if k := m[to][from]; k != 0 {
						users = append(users, Edge{ID(to), k})
					}
				}
				require.Equal(t, deps, g.Dependencies(ID(from)))
				require.Equal(t, users, g.Dependents(ID(from)))
			}
		}
	})
}

func TestBuiltGraphCanGrowWithoutDisturbingNeighbours(t *testing.T) {
	m := newModel(4)
	m[1][0], m[2][0], m[3][0], m[3][1] = Dependency, Provider, Parent, Dependency
	g := m.build()
	id := g.AddNode(Edge{2, Provider}, Edge{0, Dependency}, Edge{2, Parent})
	g.AddEdge(1, 2, DeletedWith)
	require.Equal(t, ID(4), id)
	require.Equal(t, []Edge{{0, Dependency}, {2, Provider | Parent}}, g.Dependencies(4))
	require.Equal(t, []Edge{{1, Dependency}, {2, Provider}, {3, Parent}, {4, Dependency}}, g.Dependents(0))
	require.Equal(t, []Edge{{0, Dependency}, {2, DeletedWith}}, g.Dependencies(1))
	require.Equal(t, []Edge{{0, Provider}}, g.Dependencies(2))
	require.Equal(t, []Edge{{1, DeletedWith}, {4, Provider | Parent}}, g.Dependents(2))
}

func TestBuilderMayBeUsedFurther(t *testing.T) {
	var b Builder
	b.AddNodes(2)
	b.AddEdge(1, 0, Parent)
	first := b.Graph()
	b.AddEdge(b.AddNode(), 0, Parent)
	second := b.Graph()
	require.Equal(t, []Edge{{1, Parent}}, first.Dependents(0))
	require.Equal(t, []Edge{{1, Parent}, {2, Parent}}, second.Dependents(0))
}

func TestWrongEdgesAreRefused(t *testing.T) {
	var g Graph
	g.AddNode()
	for name, add := range map[string]func(){
		"unknown source":        func() { g.AddEdge(1, 0, Parent) },
		"unknown target":        func() { g.AddEdge(0, 1, Parent) },
		"negative target":       func() { g.AddEdge(0, -1, Parent) },
		"no kind":               func() { g.AddEdge(0, 0, 0) },
		"reserved kind":         func() { g.AddEdge(0, 0, member) },
		"new node on itself":    func() { g.AddNode(Edge{1, Parent}) },
		"builder, no kind":      func() { new(Builder).AddEdge(0, 0, 0) },
		"builder, unknown node": func() { b := &Builder{}; b.AddEdge(0, 0, Parent); b.Graph() },
	} {
		t.Run(name, func(t *testing.T) {
			require.Panics(t, add)
			require.Equal(t, 1, g.Len())
			require.Empty(t, g.Dependencies(0))
		})
	}
}

func TestLabelsAreSortedAndUnique(t *testing.T) {
	var g Graph
	g.AddNode()
	g.AddNode(Edge{0, PropertyDependency})
	for _, label := range []string{"zone", "image", "zone", "image", "name"} {
		g.AddLabel(1, 0, label)
	}
	require.Equal(t, []string{"image", "name", "zone"}, g.Labels(1, 0))
	require.Empty(t, g.Labels(0, 1))
}

func TestKindsPrintInFixedOrder(t *testing.T) {
	require.Equal(t, "none", Kind(0).String())
	require.Equal(t, "parent|dependency|property|provider|deletedWith|replaceWith", AllKinds.String())
	require.Equal(t, "dependency|deletedWith", (DeletedWith | Dependency).String())
	require.Zero(t, NotParent&Parent)
}

func TestReachFindsWhatWalkingTheMatrixFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawCyclic(t)
		g, kinds := m.build(), drawKinds(t)
		roots, skip := drawSet(t, len(m), "root"), drawSet(t, len(m), "skip")
		paths := m.closed(kinds, func(id ID) bool { return roots[id] || !skip[id] })
		var down, up []ID
		for id := range ID(len(m)) {
			if roots[id] || skip[id] {
				continue
			}
			isDown, isUp := false, false
			for root := range roots {
				isDown = isDown || paths[root][id] != 0
				isUp = isUp || paths[id][root] != 0
			}
			if isDown {
				down = append(down, id)
			}
			if isUp {
				up = append(up, id)
			}
		}
		asked := map[ID]int{}
		reach := Reach{Kinds: kinds, Skip: func(id ID) bool { asked[id]++; return skip[id] }}
		require.Equal(t, down, g.TransitiveDependencies(sorted(roots), reach))
		for id, n := range asked {
			require.Equal(t, 1, n, "asked about %d more than once", id)
			require.False(t, roots[id], "asked about root %d", id)
		}
		require.Equal(t, up, g.TransitiveDependents(sorted(roots), reach))
	})
}

func TestReachOfSmallAnswerCostsNoMoreInLargeGraph(t *testing.T) {
	allocated := func(nodes int) float64 {
		g := chain(nodes)
		return testing.AllocsPerRun(20, func() { g.TransitiveDependents([]ID{ID(nodes - 20)}, Reach{}) })
	}
	require.Equal(t, allocated(10_000), allocated(1_000_000))
	// The bytes count as well as the allocations: nothing as long as the graph may be allocated.
	require.Nil(t, newIndex(1_000_000, 20).dense)
}

func TestIndexKeepsItsNumbersWhenItTurnsDense(t *testing.T) {
	x := newIndex(1000, 1)
	for i := range 1000 {
		require.True(t, x.add(ID(i*7%1000)))
		require.False(t, x.add(ID(i*7%1000)))
	}
	require.NotNil(t, x.dense)
	for i := range 1000 {
		n, found := x.at(ID(i * 7 % 1000))
		require.True(t, found)
		require.Equal(t, int32(i), n)
	}
	_, found := x.at(1000)
	require.False(t, found)
}

func chain(n int) *Graph {
	var b Builder
	b.AddNodes(n)
	for i := 1; i < n; i++ {
		b.AddEdge(ID(i), ID(i-1), Dependency)
	}
	return b.Graph()
}
