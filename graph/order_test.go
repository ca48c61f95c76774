package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naiveOrder looks through all nodes for the next one.
func (m model) naiveOrder(nodes map[ID]bool, kinds Kind, priority func(ID) int64) []ID {
	left := sorted(nodes)
	var out []ID
	for len(left) > 0 {
		best := -1
		for i, id := range left {
			free := !slices.ContainsFunc(left, func(dep ID) bool { return m.has(id, dep, kinds) })
			if free && (best < 0 || priority(id) < priority(left[best])) {
				best = i
			}
		}
		out = append(out, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return out
}

func TestTopologicalOrderPicksTheLowestPriorityThatIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		kinds, nodes := drawKinds(t), drawSet(t, len(m), "node")
		by := rapid.SliceOfN(rapid.Int64Range(-3, 3), len(m), len(m)).Draw(t, "priority")
		priority := func(id ID) int64 { return by[id] }
		g := m.build()

		given := append([]ID{}, sorted(nodes)...)
		slices.Reverse(given)
		got, err := g.TopologicalOrder(Order{Nodes: given, Kinds: kinds, Priority: priority})
		require.NoError(t, err)
		require.Equal(t, append([]ID{}, m.naiveOrder(nodes, kinds, priority)...), got)
		m.requireOrder(t, got, kinds)
	})
}

func TestValidBaseOrderIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		// Rename the nodes, so that a valid order is not the order of IDs.
		to := append([]ID{}, rapid.Permutation(ids(len(m))).Draw(t, "names")...)
		renamed := newModel(len(m))
		position := make([]int64, len(m))
		for from := range m {
			position[to[from]] = int64(from)
			for dep := range m {
				renamed[to[from]][to[dep]] = m[from][dep]
			}
		}
		g := renamed.build()
		got, err := g.TopologicalOrder(Order{Priority: func(id ID) int64 { return position[id] }})
		require.NoError(t, err)
		require.Equal(t, to, got)
	})
}

// postOrderOf returns the post-order of a graph.
func postOrderOf(g *Graph) (order, cycle []ID) {
	return PostOrder(g.Len(), func(id ID, visit func(ID)) {
		for _, e := range slices.Backward(g.Dependencies(id)) {
			visit(e.ID)
			visit(e.ID)
		}
	})
}

func TestPostOrderKeepsWhatIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t) // its edges lead to lower IDs
		order, cycle := postOrderOf(m.build())
		require.Nil(t, cycle)
		require.Equal(t, append([]ID{}, ids(len(m))...), order)
	})
}

func TestPostOrderPlacesDependenciesFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		to := append([]ID{}, rapid.Permutation(ids(len(m))).Draw(t, "names")...)
		renamed := newModel(len(m))
		for from := range m {
			for dep := range m {
				renamed[to[from]][to[dep]] = m[from][dep]
			}
		}
		order, cycle := postOrderOf(renamed.build())
		require.Nil(t, cycle)
		renamed.requireOrder(t, order, AllKinds)
	})
}

func TestPostOrderVisitsDependenciesInPlace(t *testing.T) {
	for name, tc := range map[string]struct {
		edges       [][2]ID
		want, cycle []ID
	}{
		"dependency moves before its first user":   {[][2]ID{{1, 3}}, []ID{0, 3, 1, 2, 4}, nil},
		"dependencies are visited in ascending ID": {[][2]ID{{0, 3}, {0, 2}}, []ID{2, 3, 0, 1, 4}, nil},
		"chain against the order is turned round":  {[][2]ID{{0, 1}, {1, 2}}, []ID{2, 1, 0, 3, 4}, nil},
		"nothing moves without edges":              {nil, []ID{0, 1, 2, 3, 4}, nil},
		"cycle of one":                             {[][2]ID{{2, 2}}, []ID{0, 1, 2, 3, 4}, []ID{2}},
		"cycle without the way to it":              {[][2]ID{{0, 1}, {1, 3}, {3, 2}, {2, 1}}, []ID{2, 3, 1, 0, 4}, []ID{1, 3, 2}},
		"first of two cycles":                      {[][2]ID{{3, 4}, {4, 3}, {1, 2}, {2, 1}}, []ID{0, 2, 1, 4, 3}, []ID{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			b.AddNodes(5)
			for _, e := range tc.edges {
				b.AddEdge(e[0], e[1], Dependency)
			}
			order, cycle := postOrderOf(b.Graph())
			require.Equal(t, tc.want, order)
			require.Equal(t, tc.cycle, cycle)
		})
	}
}

func TestPostOrderOfALongChain(t *testing.T) {
	const n = 200_000
	order, cycle := PostOrder(n, func(id ID, visit func(ID)) {
		if id+1 < n {
			visit(id + 1)
		}
	})
	require.Nil(t, cycle)
	require.Len(t, order, n)
	require.EqualValues(t, n-1, order[0])
}

func TestEmptyOrders(t *testing.T) {
	g := chain(3)
	for name, tc := range map[string]struct {
		nodes []ID
		want  []ID
	}{
		"nil is all":    {nil, []ID{0, 1, 2}},
		"empty is none": {[]ID{}, []ID{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := g.TopologicalOrder(Order{Nodes: tc.nodes})
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestCycleIsReportedAsItsPath(t *testing.T) {
	for name, tc := range map[string]struct {
		edges []builderEdge
		kinds Kind
		want  string
	}{
		"self": {
			[]builderEdge{{2, 2, Provider}}, 0,
			"n2 -[provider]-> n2",
		},
		"starts at lowest ID": {
			[]builderEdge{{3, 1, Dependency}, {1, 4, Parent}, {4, 3, DeletedWith | Dependency}}, 0,
			"n1 -[parent]-> n4 -[dependency|deletedWith]-> n3 -[dependency]-> n1",
		},
		"tail and head are left out": {
			[]builderEdge{{0, 1, Dependency}, {1, 2, Dependency}, {2, 1, Provider}, {2, 3, Dependency}}, 0,
			"n1 -[dependency]-> n2 -[provider]-> n1",
		},
		"short way round": {
			[]builderEdge{{0, 1, Dependency}, {1, 2, Dependency}, {2, 3, Dependency}, {3, 0, Dependency}, {0, 3, Parent}}, 0,
			"n0 -[parent]-> n3 -[dependency]-> n0",
		},
		"kinds outside the mask are left out": {
			[]builderEdge{{0, 1, Dependency | Parent}, {1, 0, Provider | Parent}}, NotParent,
			"n0 -[dependency]-> n1 -[provider]-> n0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			b.AddNodes(5)
			for _, e := range tc.edges {
				b.AddEdge(e.from, e.to, e.kind)
			}
			g := b.Graph()
			for way, err := range everyOrdering(g, tc.kinds) {
				var cycle *CycleError
				require.ErrorAs(t, err, &cycle, way)
				require.Equal(t, tc.want, cycle.Format(number), way)
			}
		})
	}
}

// everyOrdering makes all queries that need an order.
func everyOrdering(g *Graph, kinds Kind) map[string]error {
	all := ids(g.Len())
	errs := map[string]error{}
	_, errs["order"] = g.TopologicalOrder(Order{Kinds: kinds})
	_, errs["antichains"] = g.Antichains(all, Scope{Kinds: kinds})
	_, errs["schedule"] = g.Schedule(all, Schedule{Scope: Scope{Kinds: kinds}})
	_, errs["deletes"] = g.Schedule(all, Schedule{DependentsFirst, Scope{Kinds: kinds}})
	return errs
}

func TestCycleMessageNamesProperties(t *testing.T) {
	var g Graph
	g.AddNode()
	g.AddNode(Edge{0, PropertyDependency})
	g.AddEdge(0, 1, Dependency)
	g.AddLabel(1, 0, "zone")
	g.AddLabel(1, 0, "image")
	_, err := g.TopologicalOrder(Order{})
	require.EqualError(t, err, "dependency cycle: 0 -[dependency]-> 1 -[property(image, zone)]-> 0")
}

func TestEveryReportedCycleIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, kinds := drawCyclic(t), drawKinds(t)
		paths := m.closed(kinds, func(ID) bool { return true })
		cyclic := false
		for id := range m {
			cyclic = cyclic || paths[id][id] != 0
		}
		for way, err := range everyOrdering(m.build(), kinds) {
			if !cyclic {
				require.NoError(t, err, way)
				continue
			}
			var cycle *CycleError
			require.ErrorAs(t, err, &cycle, way)
			seen := map[ID]bool{}
			for i, step := range cycle.Path {
				next := cycle.Path[(i+1)%len(cycle.Path)].ID
				require.Equal(t, m[step.ID][next]&kinds.or(AllKinds), step.Kind, way)
				require.NotZero(t, step.Kind, way)
				require.False(t, seen[step.ID], "%s: %d twice", way, step.ID)
				require.LessOrEqual(t, cycle.Path[0].ID, step.ID, way)
				seen[step.ID] = true
			}
		}
	})
}

func TestCycleOutsideTheSubsetDoesNotMatter(t *testing.T) {
	m := newModel(4)
	m[0][1], m[1][0], m[3][2], m[2][0], m[0][3] = Dependency, Dependency, Dependency, Dependency, Dependency
	g := m.build()
	got, err := g.TopologicalOrder(Order{Nodes: []ID{3, 2, 1}})
	require.NoError(t, err)
	require.Equal(t, []ID{1, 2, 3}, got)
	_, err = g.Antichains([]ID{3, 2}, Scope{ThroughOthers: true})
	require.ErrorContains(t, err, "dependency cycle")
}
