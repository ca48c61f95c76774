package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzQuestions reads a graph, possibly cyclic, from bytes and checks the answers against each other and the model.
func FuzzQuestions(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{5, 1, 0, 1, 2, 1, 2, 3, 2, 8, 4, 0, 16})
	f.Add([]byte{3, 0, 1, 1, 1, 2, 2, 2, 0, 4})
	f.Add([]byte{8, 7, 6, 1, 6, 5, 2, 5, 4, 4, 4, 3, 8, 3, 2, 16, 2, 1, 32, 1, 0, 63})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := modelOf(data)
		g := m.build()
		subset := map[ID]bool{}
		for i := range m {
			if i%3 != 1 {
				subset[ID(i)] = true
			}
		}
		order, err := g.TopologicalOrder(Order{})
		if err != nil {
			checkCycle(t, m, err)
		} else {
			require.Len(t, order, len(m))
			m.requireOrder(t, order, 0)
			layers, err := g.Antichains(sorted(subset), Scope{})
			require.NoError(t, err)
			require.Equal(t, m.layers(subset, 0), layers)
			checkSchedule(t, g, sorted(subset), layers)
		}
		for root := range ID(len(m)) {
			all := func(ID, func(ID) bool) bool { return true }
			require.Equal(t, m.dependingOn(root, NotParent, nil), ReplaceClosure(g, root, 0, nil, all))
		}
	})
}

func modelOf(data []byte) model {
	if len(data) == 0 {
		return newModel(0)
	}
	n := int(data[0])%24 + 1
	m := newModel(n)
	for data = data[1:]; len(data) >= 3; data = data[3:] {
		m[int(data[0])%n][int(data[1])%n] |= Kind(data[2])&(AllKinds-1) + 1
	}
	return m
}

func checkCycle(t *testing.T, m model, err error) {
	var cycle *CycleError
	require.ErrorAs(t, err, &cycle)
	require.NotEmpty(t, cycle.Path)
	for i, step := range cycle.Path {
		next := cycle.Path[(i+1)%len(cycle.Path)].ID
		require.NotZero(t, step.Kind)
		require.Equal(t, m[step.ID][next], step.Kind)
	}
}

// checkSchedule runs the deletes in rounds. A round may be ahead of the layers but never behind.
func checkSchedule(t *testing.T, g *Graph, subset []ID, layers [][]ID) {
	layerOf := map[ID]int{}
	for n, layer := range layers {
		for _, id := range layer {
			layerOf[id] = n
		}
	}
	r := newScheduled(t, g, subset, Schedule{Direction: DependentsFirst})
	for round := 0; r.Open() > 0; round++ {
		ready := r.ready()
		require.NotEmpty(t, ready)
		for _, id := range ready {
			require.LessOrEqual(t, round, layerOf[id])
			r.finish(id)
		}
	}
}
