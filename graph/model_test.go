package graph

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is the graph as a matrix. Its answers follow the text of docs/spec/steps.md word by word, however slowly.
type model [][]Kind

func newModel(n int) model {
	m := make(model, n)
	for i := range m {
		m[i] = make([]Kind, n)
	}
	return m
}

// drawModel draws a graph whose edges go to lower IDs, as in a valid base.
func drawModel(t *rapid.T) model {
	n := rapid.IntRange(0, 14).Draw(t, "nodes")
	m := newModel(n)
	for from := range n {
		for to := range from {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				m[from][to] = Kind(rapid.IntRange(1, int(AllKinds)).Draw(t, "kind"))
			}
		}
	}
	return m
}

// drawCyclic draws a graph with edges in every direction.
func drawCyclic(t *rapid.T) model {
	n := rapid.IntRange(0, 9).Draw(t, "nodes")
	m := newModel(n)
	for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
		m[from][to] |= Kind(rapid.IntRange(1, int(AllKinds)).Draw(t, "kind"))
	}
	return m
}

func drawKinds(t *rapid.T) Kind { return Kind(rapid.IntRange(0, int(AllKinds)).Draw(t, "mask")) }

func drawSet(t *rapid.T, n int, name string) map[ID]bool {
	set := map[ID]bool{}
	for i := range n {
		if rapid.Bool().Draw(t, name) {
			set[ID(i)] = true
		}
	}
	return set
}

func (m model) build() *Graph {
	var b Builder
	b.AddNodes(len(m))
	for from := range m {
		for to, kind := range m[from] {
			if kind != 0 {
				b.AddEdge(ID(from), ID(to), kind)
			}
		}
	}
	return b.Graph()
}

func (m model) has(from, to ID, kinds Kind) bool { return m[from][to]&kinds.or(AllKinds) != 0 }

// closed adds an edge wherever there is a path whose inner nodes all satisfy via.
func (m model) closed(kinds Kind, via func(ID) bool) model {
	c := newModel(len(m))
	for from := range m {
		for to := range m {
			c[from][to] = m[from][to] & kinds.or(AllKinds)
		}
	}
	for mid := range c {
		if !via(ID(mid)) {
			continue
		}
		for from := range c {
			for to := range c {
				if c[from][mid] != 0 && c[mid][to] != 0 {
					c[from][to] |= Dependency
				}
			}
		}
	}
	return c
}

// layers takes, round after round, the nodes without remaining dependents.
func (m model) layers(condemned map[ID]bool, kinds Kind) [][]ID {
	left := map[ID]bool{}
	for id := range condemned {
		left[id] = true
	}
	var layers [][]ID
	for len(left) > 0 {
		var layer []ID
		for _, id := range sorted(left) {
			free := true
			for dependent := range left {
				free = free && !m.has(dependent, id, kinds)
			}
			if free {
				layer = append(layer, id)
			}
		}
		for _, id := range layer {
			delete(left, id)
		}
		layers = append(layers, layer)
	}
	return layers
}

// dependingOn is the scan of steps.md 3.11.
func (m model) dependingOn(root ID, kinds Kind, impossible map[ID]bool) []ID {
	set := map[ID]bool{root: true}
	var found []ID
	for id := root + 1; int(id) < len(m); id++ {
		for dep := range set {
			if !impossible[id] && m.has(id, dep, kinds) {
				set[id] = true
				found = append(found, id)
				break
			}
		}
	}
	return found
}

// expanded writes out the edges to the children of components (steps.md 5.3 step 2).
func (m model) expanded(isComponent map[ID]bool, parent []ID) model {
	out := newModel(len(m))
	for from := range m {
		copy(out[from], m[from])
	}
	for from := range m {
		for to := range from {
			kinds := m[from][to] & NotParent
			if kinds == 0 || !isComponent[ID(to)] {
				continue
			}
			for child := range from {
				if descends(parent, ID(child), ID(to)) {
					out[from][child] |= kinds
				}
			}
		}
	}
	return out
}

func descends(parent []ID, id, from ID) bool {
	for p := parent[id]; p >= 0; p = parent[p] {
		if p == from {
			return true
		}
	}
	return false
}

func sorted(set map[ID]bool) []ID {
	var out []ID
	for id := range set {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// requireOrder fails unless each node comes after its dependencies among the nodes.
func (m model) requireOrder(t require.TestingT, order []ID, kinds Kind) {
	for i, id := range order {
		for _, later := range order[i+1:] {
			require.False(t, m.has(id, later, kinds), "%d is before its dependency %d in %v", id, later, order)
		}
	}
}

func TestUnrelatedNodeIsInTheFirstLayer(t *testing.T) {
	// P (provider), A, B (depends on A), C (parent B), X, all using P.
	m := newModel(5)
	for id := 1; id < 5; id++ {
		m[id][0] = Provider
	}
	m[2][1], m[3][2] = Dependency, Parent
	all := map[ID]bool{0: true, 1: true, 2: true, 3: true, 4: true}
	require.Equal(t, [][]ID{{3, 4}, {2}, {1}, {0}}, m.layers(all, 0))
	layers, err := m.build().Antichains([]ID{0, 1, 2, 3, 4}, Scope{})
	require.NoError(t, err)
	require.Equal(t, [][]ID{{3, 4}, {2}, {1}, {0}}, layers)
}

func number(id ID) string { return "n" + strconv.Itoa(int(id)) }

func ids(n int) []ID {
	out := make([]ID, n)
	for i := range out {
		out[i] = ID(i)
	}
	return out
}

func (m model) String() string {
	s := ""
	for from := range m {
		for to, k := range m[from] {
			if k != 0 {
				s += fmt.Sprintf("%d->%d:%v ", from, to, k)
			}
		}
	}
	return s
}
