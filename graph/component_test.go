package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawForest(t *rapid.T, n int) []ID {
	parent := make([]ID, n)
	for i := range parent {
		parent[i] = ID(rapid.IntRange(-1, i-1).Draw(t, "parent"))
	}
	return parent
}

// The joins must order and block exactly like the edges that they represent.
func TestExpandedGraphAnswersAsIfEdgesWereWrittenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		parent := drawForest(t, len(m))
		component := drawSet(t, len(m), "component")
		full := m.expanded(component, parent)
		g := m.build().ExpandComponents(Components{
			IsComponent: func(id ID) bool { return component[id] },
			Parent:      func(id ID) (ID, bool) { return parent[id], parent[id] >= 0 },
		})
		for id := range ID(g.Len()) {
			require.Equal(t, int(id) >= len(m), g.IsJoin(id))
		}
		kinds, subset := drawKinds(t), drawSet(t, len(m), "member")
		want := full.build()

		got, err := g.Antichains(sorted(subset), Scope{Kinds: kinds})
		require.NoError(t, err)
		require.Equal(t, full.layers(subset, kinds), got)

		for _, through := range []bool{false, true} {
			scope := Scope{kinds, through}
			wantLayers, err := want.Antichains(sorted(subset), scope)
			require.NoError(t, err)
			gotLayers, err := g.Antichains(sorted(subset), scope)
			require.NoError(t, err)
			require.Equal(t, wantLayers, gotLayers)
			requireSameSchedule(t, want, g, sorted(subset), Schedule{DependentsFirst, scope})
			requireSameSchedule(t, want, g, sorted(subset), Schedule{DependenciesFirst, scope})
		}

		skip := drawSet(t, len(m), "skip")
		reach := Reach{Kinds: kinds, Skip: func(id ID) bool { return skip[id] }}
		require.Equal(t, want.TransitiveDependencies(sorted(subset), reach), g.TransitiveDependencies(sorted(subset), reach))
		require.Equal(t, want.TransitiveDependents(sorted(subset), reach), g.TransitiveDependents(sorted(subset), reach))

		order := Order{Kinds: kinds, Priority: func(id ID) int64 { return -int64(id) }}
		wantOrder, err := want.TopologicalOrder(order)
		require.NoError(t, err)
		gotOrder, err := g.TopologicalOrder(order)
		require.NoError(t, err)
		require.Equal(t, wantOrder, gotOrder)
	})
}

func requireSameSchedule(t require.TestingT, want, got *Graph, subset []ID, s Schedule) {
	a, b := newScheduled(t, want, subset, s), newScheduled(t, got, subset, s)
	for a.Open() > 0 {
		ready := a.ready()
		require.ElementsMatch(t, ready, b.ready())
		for _, id := range ready {
			if id%5 == 3 {
				require.Equal(t, a.fail(id), b.fail(id))
				continue
			}
			a.finish(id)
			b.finish(id)
		}
	}
	require.Empty(t, b.ready())
	require.Zero(t, b.Open())
}

// drawn graphs are too small for a deep cover, so its blocks get a test of their own.
func TestCoverStandsForExactlyWhatHasArrived(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "places")
		places := rapid.Permutation(ids(n)).Draw(t, "arrivals")
		b := &Builder{}
		b.AddNodes(n)
		c := newCover(b, n)
		type claim struct {
			parts []ID
			want  []ID
		}
		var claims []claim
		place := make([]int32, n) // by node, which arrive in ascending order
		for id := range ID(n) {
			place[id] = int32(places[id])
			c.insert(place[id], id)
			if rapid.IntRange(0, 9).Draw(t, "ask") > 0 {
				continue
			}
			lo := int32(rapid.IntRange(0, n).Draw(t, "lo"))
			hi := int32(rapid.IntRange(int(lo), n).Draw(t, "hi"))
			cl := claim{parts: c.parts(lo, hi)}
			for seen := range id + 1 {
				if lo <= place[seen] && place[seen] < hi {
					cl.want = append(cl.want, seen)
				}
			}
			claims = append(claims, cl)
		}
		g := b.Graph()
		for _, cl := range claims {
			var plain []ID
			for _, p := range cl.parts {
				if !g.IsJoin(p) {
					plain = append(plain, p)
				}
			}
			got := append(plain, g.TransitiveDependencies(cl.parts, Reach{})...)
			require.ElementsMatch(t, cl.want, got)
		}
	})
}

func TestChildrenOfComponentOutliveItsUser(t *testing.T) {
	// 0 is a component, 1 and 2 are children, 3 uses the component, 4 is a later child, 5 is a child of 2.
	m := newModel(6)
	m[1][0], m[2][0], m[4][0], m[5][2] = Parent, Parent, Parent, Parent
	m[3][0] = Dependency
	g := m.build().ExpandComponents(Components{IsComponent: func(id ID) bool { return id == 0 }})
	layers, err := g.Antichains(ids(6), Scope{})
	require.NoError(t, err)
	require.Equal(t, "0: n3 n4 n5\n1: n1 n2\n2: n0\n", LayersText(layers, number))

	plain, err := m.build().Antichains(ids(6), Scope{})
	require.NoError(t, err)
	require.Equal(t, "0: n1 n3 n4 n5\n1: n2\n2: n0\n", LayersText(plain, number))
}

func TestCycleThroughComponentHidesJoins(t *testing.T) {
	// 3 uses component 0 and so its children 1 and 2; child 1 uses 3, which no valid base has.
	m := newModel(4)
	m[1][0], m[2][0] = Parent, Parent
	m[3][0], m[1][3] = Dependency, Provider
	g := m.build().ExpandComponents(Components{IsComponent: func(id ID) bool { return id == 0 }})
	_, err := g.TopologicalOrder(Order{})
	var cycle *CycleError
	require.ErrorAs(t, err, &cycle)
	require.Equal(t, "n1 -[provider]-> n3 -[dependency]-> n1", cycle.Format(number))
}

func TestExpandedGraphCanGrowAndKeepsLabels(t *testing.T) {
	m := newModel(4)
	m[1][0], m[2][0], m[3][0] = Parent, Parent, Dependency
	g := m.build()
	g.AddLabel(3, 0, "x")
	x := g.ExpandComponents(Components{IsComponent: func(id ID) bool { return id == 0 }})
	require.Equal(t, 4, g.Len(), "the original is left alone")
	require.Equal(t, 5, x.Len())
	require.True(t, x.IsJoin(4))
	id := x.AddNode(Edge{3, Dependency})
	require.Equal(t, ID(5), id)
	require.False(t, x.IsJoin(id))
	require.Equal(t, []string{"x"}, x.Labels(3, 0))
	require.Equal(t, []ID{0, 1, 2, 3}, x.TransitiveDependencies([]ID{id}, Reach{}))
	require.Equal(t, []ID{1, 2}, NewClosure(x, 0, Parent, nil).Candidates(), "a closure ignores joins")
}

// With everything below one component and everything else using it, there would be n²/4 edges.
func TestJoinsStayNearLinear(t *testing.T) {
	const n = 20_000
	for name, build := range map[string]func(b *Builder){
		"children first": func(b *Builder) {
			for i := ID(1); i < n; i++ {
				if i < n/2 {
					b.AddEdge(i, 0, Parent)
				} else {
					b.AddEdge(i, 0, Dependency)
				}
			}
		},
		"by turns": func(b *Builder) {
			for i := ID(1); i < n; i++ {
				if i%2 == 0 {
					b.AddEdge(i, 0, Parent)
				} else {
					b.AddEdge(i, 0, Dependency)
				}
			}
		},
		"deep nest, by turns": func(b *Builder) {
			for i := ID(2); i < n; i++ {
				if i%2 == 0 {
					b.AddEdge(i, i-2, Parent)
				} else {
					b.AddEdge(i, 0, Dependency)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			b.AddNodes(n)
			build(&b)
			x := b.Graph().ExpandComponents(Components{IsComponent: func(ID) bool { return true }})
			edges := 0
			for id := range ID(x.Len()) {
				edges += len(x.Dependencies(id))
			}
			const logFour = 8 // 4^8 > 20,000
			require.Less(t, x.Len(), n*(logFour+2))
			require.Less(t, edges, n*(logFour+2)*fanOut)
			if name == "children first" {
				require.Less(t, x.Len(), n+n/5)
				require.Less(t, edges, 3*n)
			}
		})
	}
}
