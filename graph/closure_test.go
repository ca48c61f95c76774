package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawNeeds draws a rule of the shape of steps.md 3.11: certain direct dependencies put a node into the set.
func drawNeeds(t *rapid.T, m model) func(id ID, inSet func(ID) bool) bool {
	draws := make([]map[ID]bool, len(m))
	for i := range m {
		draws[i] = drawSet(t, i, "draws")
	}
	return func(id ID, inSet func(ID) bool) bool {
		for dep := range draws[id] {
			if m.has(id, dep, NotParent) && inSet(dep) {
				return true
			}
		}
		return false
	}
}

func TestClosureIsThatOfAskingOneByOneInBaseOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		if len(m) == 0 {
			return
		}
		root := ID(rapid.IntRange(0, len(m)-1).Draw(t, "root"))
		impossible := drawSet(t, len(m), "impossible")
		needs := drawNeeds(t, m)

		set := map[ID]bool{root: true}
		inSet := func(id ID) bool { return set[id] }
		var want []ID
		candidates := m.dependingOn(root, NotParent, impossible)
		for _, id := range candidates {
			if needs(id, inSet) {
				set[id] = true
				want = append(want, id)
			}
		}

		g := m.build()
		isImpossible := func(id ID) bool { return impossible[id] }
		require.Equal(t, want, ReplaceClosure(g, root, 0, isImpossible, needs))

		// Answers in any order give the same set, and no candidate is ready before its dependencies are answered.
		c := NewClosure(g, root, 0, isImpossible)
		require.Equal(t, candidates, c.Candidates())
		answered := map[ID]bool{}
		var open []ID
		for {
			fresh := c.Ready()
			require.True(t, slices.IsSorted(fresh))
			open = append(open, fresh...)
			if len(open) == 0 {
				break
			}
			at := rapid.IntRange(0, len(open)-1).Draw(t, "next")
			id := open[at]
			open = slices.Delete(open, at, at+1)
			touched := false
			for _, e := range g.Dependencies(id) {
				require.False(t, e.Kind&NotParent != 0 && c.IsCandidate(e.ID) && c.status[mustAt(c, e.ID)] < out)
				touched = touched || (e.Kind&NotParent != 0 && c.InSet(e.ID))
			}
			require.True(t, touched, "%d asked without cause", id)
			require.False(t, answered[id])
			answered[id] = true
			c.Answer(id, needs(id, c.InSet))
		}
		require.True(t, c.Done())
		require.Zero(t, c.Open())
		require.Equal(t, want, c.Members())
		require.True(t, c.InSet(root))
		require.Equal(t, root, c.Root())
	})
}

func mustAt(c *Closure, id ID) int32 {
	i, _ := c.at.at(id)
	return i
}

func TestClosureAsksIndependentCandidatesTogether(t *testing.T) {
	// Root 0; 1, 2, 3 use it; 4 uses 1 and 2; 5 uses 3; 6 uses 5.
	m := newModel(7)
	m[1][0], m[2][0], m[3][0] = PropertyDependency, Provider, Dependency
	m[4][1], m[4][2], m[5][3], m[6][5] = PropertyDependency, PropertyDependency, PropertyDependency, PropertyDependency
	c := NewClosure(m.build(), 0, 0, nil)
	require.Equal(t, []ID{1, 2, 3}, c.Ready())
	require.Empty(t, c.Ready())
	c.Answer(3, false)
	require.Empty(t, c.Ready(), "5 and 6 are out, as nothing they use is in")
	require.Equal(t, 3, c.Open())
	c.Answer(2, true)
	require.Empty(t, c.Ready(), "4 still waits for 1")
	c.Answer(1, false)
	require.Equal(t, []ID{4}, c.Ready())
	require.False(t, c.Done())
	c.Answer(4, true)
	require.True(t, c.Done())
	require.Equal(t, []ID{2, 4}, c.Members())
}

func TestEarlyAnswerStands(t *testing.T) {
	g := chain(4)
	c := NewClosure(g, 0, 0, nil)
	c.Answer(2, false)
	require.Equal(t, []ID{1}, c.Ready())
	c.Answer(1, true)
	require.Empty(t, c.Ready())
	require.True(t, c.Done(), "3 uses only 2")
	require.Equal(t, []ID{1}, c.Members())

	c = NewClosure(g, 0, 0, nil)
	c.Answer(1, false)
	require.Empty(t, c.Ready(), "a candidate that was ready but is answered is not handed out")
	require.True(t, c.Done())
}

func TestAnswersWithoutQuestionAreRefused(t *testing.T) {
	c := NewClosure(chain(3), 1, 0, nil)
	require.Panics(t, func() { c.Answer(0, true) })
	require.Panics(t, func() { c.Answer(1, true) }, "the root")
	c.Answer(2, true)
	require.Panics(t, func() { c.Answer(2, false) })
	require.True(t, c.InSet(2))
}

func TestClosureEndsOnCyclicGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawCyclic(t)
		for root := range ID(len(m)) {
			got := ReplaceClosure(m.build(), root, 0, nil, func(ID, func(ID) bool) bool { return true })
			require.Equal(t, m.dependingOn(root, NotParent, nil), got)
		}
	})
}

func TestGraphMayGrowDuringClosure(t *testing.T) {
	g := chain(3)
	c := NewClosure(g, 0, 0, nil)
	id := g.AddNode(Edge{1, PropertyDependency})
	require.False(t, c.IsCandidate(id))
	require.False(t, c.InSet(id))
	c.Answer(1, true)
	require.Equal(t, []ID{2}, c.Ready())
}

func TestChildrenAreInTheClosureOnlyIfAsked(t *testing.T) {
	m := newModel(2)
	m[1][0] = Parent
	require.Empty(t, NewClosure(m.build(), 0, 0, nil).Candidates())
	require.Equal(t, []ID{1}, NewClosure(m.build(), 0, AllKinds, nil).Candidates())
}
