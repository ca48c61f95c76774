package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawSchedule draws a subset and a schedule and says which member waits for which.
func drawSchedule(t *rapid.T, m model) (map[ID]bool, Schedule, func(waiter, first ID) bool) {
	subset := drawSet(t, len(m), "member")
	s := Schedule{
		Direction: Direction(rapid.IntRange(0, 1).Draw(t, "direction")),
		Scope:     Scope{Kinds: drawKinds(t), ThroughOthers: rapid.Bool().Draw(t, "through")},
	}
	order := m.closed(s.Kinds, func(id ID) bool { return s.ThroughOthers && !subset[id] })
	return subset, s, func(waiter, first ID) bool {
		if s.Direction == DependentsFirst {
			return order[first][waiter] != 0
		}
		return order[waiter][first] != 0
	}
}

// expectSkips returns the members that some failed member keeps from running.
func expectSkips(subset, failed map[ID]bool, waits func(waiter, first ID) bool) []ID {
	blocked := map[ID]bool{}
	for again := true; again; {
		again = false
		for id := range subset {
			for first := range subset {
				if !blocked[id] && waits(id, first) && (failed[first] || blocked[first]) {
					blocked[id], again = true, true
				}
			}
		}
	}
	return sorted(blocked)
}

func TestReadySetHandsOutWhatNothingHoldsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		subset, schedule, waits := drawSchedule(t, m)
		fails := drawSet(t, len(m), "fails")
		g := m.build()
		r, err := NewReadySet(g, sorted(subset), schedule)
		require.NoError(t, err)

		failed, done, seen := map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
		skipped := map[ID]bool{}
		var open []ID
		for {
			fresh := r.Ready()
			require.True(t, slices.IsSorted(fresh))
			open = append(open, fresh...)
			for _, id := range fresh {
				seen[id] = true
			}
			for id := range subset {
				free := true
				for first := range subset {
					free = free && (!waits(id, first) || done[first])
				}
				require.Equal(t, free, seen[id], "node %d handed out when and only when free", id)
			}
			if len(open) == 0 {
				break
			}
			at := rapid.IntRange(0, len(open)-1).Draw(t, "next")
			id := open[at]
			open = slices.Delete(open, at, at+1)
			if !fails[id] {
				done[id] = true
				r.Finish(id)
				continue
			}
			failed[id] = true
			lost := r.Fail(id)
			require.True(t, slices.IsSorted(lost))
			for _, s := range lost {
				require.False(t, skipped[s], "%d skipped twice", s)
				skipped[s] = true
			}
		}
		require.True(t, r.Done())
		require.Equal(t, expectSkips(subset, failed, waits), r.Skipped())
		require.Equal(t, sorted(skipped), r.Skipped())
		require.Equal(t, sorted(failed), r.Failed())
		require.Equal(t, sorted(done), r.Finished())
		require.Empty(t, r.NotStarted())
	})
}

func TestEmptyReadySetIsDone(t *testing.T) {
	for name, subset := range map[string][]ID{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReadySet(chain(3), subset, Schedule{})
			require.NoError(t, err)
			require.True(t, r.Done())
			require.Empty(t, r.Ready())
			require.NoError(t, r.Run(t.Context(), 4, nil))
		})
	}
}

func TestOnlyWhatWasHandedOutCanEnd(t *testing.T) {
	r, err := NewReadySet(chain(3), []ID{0, 1}, Schedule{})
	require.NoError(t, err)
	require.Panics(t, func() { r.Finish(0) }, "not asked for yet")
	require.Equal(t, []ID{0}, r.Ready())
	require.Panics(t, func() { r.Finish(1) })
	require.Panics(t, func() { r.Fail(2) }, "not a member")
	require.Equal(t, 2, r.Open())
	r.Finish(0)
	require.Panics(t, func() { r.Finish(0) })
	require.Equal(t, []ID{1}, r.Ready())
	require.Equal(t, 1, r.Open())
}

func TestGraphMayGrowDuringSchedule(t *testing.T) {
	g := chain(2)
	r, err := NewReadySet(g, []ID{0, 1}, Schedule{})
	require.NoError(t, err)
	g.AddNode(Edge{1, Dependency})
	require.Equal(t, []ID{0}, r.Ready())
	r.Finish(0)
	require.Equal(t, []ID{1}, r.Ready())
	r.Finish(1)
	require.True(t, r.Done())
}

// steps.md 5.3 rule 4: a delete that failed keeps what the resource needs, even by way of a resource that is not deleted.
func TestFailedDeleteKeepsItsTransitiveDependencies(t *testing.T) {
	g := chain(4)
	r, err := NewReadySet(g, []ID{0, 1, 3}, Schedule{DependentsFirst, Scope{ThroughOthers: true}})
	require.NoError(t, err)
	require.Equal(t, []ID{3}, r.Ready())
	require.Equal(t, []ID{0, 1}, r.Fail(3))
	require.True(t, r.Done())
}
