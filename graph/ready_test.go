package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawSchedule draws a subset and a schedule, and returns which member waits for which.
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

// schedule puts the entries of a schedule into a ready set, under their positions, and finishes relays when they are free.
type scheduled struct {
	ReadySet
	list []Scheduled
	at   map[ID]ID // member -> position
}

func newScheduled(t require.TestingT, g *Graph, subset []ID, how Schedule) *scheduled {
	list, err := g.Schedule(subset, how)
	require.NoError(t, err)
	s := &scheduled{list: list, at: map[ID]ID{}}
	for i := range list {
		require.Empty(t, s.add(ID(i)))
	}
	return s
}

func (s *scheduled) add(position ID) []ID {
	entry := s.list[position]
	if !entry.Relay {
		s.at[entry.Node] = position
	}
	return s.Add(position, entry.After...)
}

// ready returns the members that may begin, in the order in which the set hands them out.
func (s *scheduled) ready() []ID {
	var out []ID
	for {
		position, ok := s.Next()
		switch {
		case !ok:
			return out
		case s.list[position].Relay:
			s.Finish(position)
		default:
			out = append(out, s.list[position].Node)
		}
	}
}

func (s *scheduled) finish(id ID) { s.Finish(s.at[id]) }

func (s *scheduled) fail(id ID) []ID { return s.members(s.Fail(s.at[id])) }

func (s *scheduled) members(positions []ID) []ID {
	out := []ID{}
	for _, p := range positions {
		if !s.list[p].Relay {
			out = append(out, s.list[p].Node)
		}
	}
	slices.Sort(out)
	return out
}

func TestReadySetHandsOutWhatNothingHoldsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		subset, schedule, waits := drawSchedule(t, m)
		fails := drawSet(t, len(m), "fails")
		r := newScheduled(t, m.build(), sorted(subset), schedule)

		failed, done, seen := map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
		skipped := map[ID]bool{}
		var open []ID
		for {
			fresh := r.ready()
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
				r.finish(id)
				continue
			}
			failed[id] = true
			for _, s := range r.fail(id) {
				require.False(t, skipped[s], "%d skipped twice", s)
				skipped[s] = true
			}
		}
		require.Zero(t, r.Open())
		require.Equal(t, expectSkips(subset, failed, waits), sorted(skipped))
	})
}

// Work may be added before, while or after the work before it runs: its fate is the same.
func TestReadySetMayGrowAtAnyTimeAndInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		subset, schedule, waits := drawSchedule(t, m)
		fails := drawSet(t, len(m), "fails")
		list, err := m.build().Schedule(sorted(subset), schedule)
		require.NoError(t, err)
		r := &scheduled{list: list, at: map[ID]ID{}}
		positions := make([]int, len(list))
		for i := range positions {
			positions[i] = i
		}
		toAdd := rapid.Permutation(positions).Draw(t, "added")
		failed, done, skipped := map[ID]bool{}, map[ID]bool{}, map[ID]bool{}
		skip := func(ids []ID) {
			for _, id := range ids {
				require.False(t, skipped[id] || done[id], "%d ends twice", id)
				skipped[id] = true
			}
		}
		var open []ID
		for len(toAdd) > 0 || len(open) > 0 {
			if len(open) == 0 || len(toAdd) > 0 && rapid.Bool().Draw(t, "grow") {
				skip(r.members(r.add(ID(toAdd[0]))))
				toAdd = toAdd[1:]
			} else {
				id := open[0]
				open = open[1:]
				if fails[id] {
					failed[id] = true
					skip(r.fail(id))
				} else {
					done[id] = true
					r.finish(id)
				}
			}
			for _, id := range r.ready() {
				for first := range subset {
					require.True(t, !waits(id, first) || done[first], "%d begins before %d is done", id, first)
				}
				open = append(open, id)
			}
		}
		require.Zero(t, r.Open())
		require.Equal(t, expectSkips(subset, failed, waits), sorted(skipped))
		require.Len(t, subset, len(done)+len(failed)+len(skipped))
	})
}

func TestEmptyScheduleHasNoEntries(t *testing.T) {
	for name, subset := range map[string][]ID{"nil": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			list, err := chain(3).Schedule(subset, Schedule{})
			require.NoError(t, err)
			require.Empty(t, list)
		})
	}
	var r ReadySet
	_, ok := r.Next()
	require.False(t, ok)
	require.Zero(t, r.Open())
}

func TestScheduleKeepsBaseOrderOrItsReverse(t *testing.T) {
	// 0 and 1 are free, 2 uses 1, 3 is free.
	m := newModel(4)
	m[2][1] = Dependency
	for name, tc := range map[string]struct {
		direction Direction
		want      []ID
	}{
		"creates": {DependenciesFirst, []ID{0, 1, 2, 3}},
		"deletes": {DependentsFirst, []ID{3, 2, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newScheduled(t, m.build(), ids(4), Schedule{Direction: tc.direction})
			var got []ID
			for position, ok := r.Next(); ok; position, ok = r.Next() {
				got = append(got, r.list[position].Node)
				r.Finish(position)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestOnlyWhatWasHandedOutCanEnd(t *testing.T) {
	var r ReadySet
	r.Add(0)
	r.Add(1, 0)
	require.Panics(t, func() { r.Add(1) }, "added already")
	require.Panics(t, func() { r.Finish(0) }, "not asked for yet")
	id, ok := r.Next()
	require.True(t, ok)
	require.Equal(t, ID(0), id)
	require.Panics(t, func() { r.Finish(1) })
	require.Panics(t, func() { r.Fail(2) }, "never added")
	require.Equal(t, 2, r.Open())
	r.Finish(0)
	require.Panics(t, func() { r.Finish(0) })
	id, _ = r.Next()
	require.Equal(t, ID(1), id)
	require.Equal(t, 1, r.Open())
}

func TestWorkThatIsAddedAfterAFailureIsSkippedAtOnce(t *testing.T) {
	var r ReadySet
	r.Add(0)
	r.Add(2, 1) // 2 waits for 1, which is added later
	_, _ = r.Next()
	require.Empty(t, r.Fail(0))
	require.Equal(t, []ID{1, 2}, r.Add(1, 0))
	require.Equal(t, []ID{3}, r.Add(3, 2))
	require.Zero(t, r.Open())
}

// steps.md 5.3 rule 4: a delete that failed keeps what the resource needs, even by way of a resource that is not deleted.
func TestFailedDeleteKeepsItsTransitiveDependencies(t *testing.T) {
	r := newScheduled(t, chain(4), []ID{0, 1, 3}, Schedule{DependentsFirst, Scope{ThroughOthers: true}})
	require.Equal(t, []ID{3}, r.ready())
	require.Equal(t, []ID{0, 1}, r.fail(3))
	require.Zero(t, r.Open())
}

// A dependency of every member is not a path from one member to another, so a small schedule need not look at it.
func TestScheduleOfFewMembersLeavesOutWhatIsBelowThem(t *testing.T) {
	list, err := chain(1000).Schedule([]ID{900, 902}, Schedule{DependentsFirst, Scope{ThroughOthers: true}})
	require.NoError(t, err)
	require.Len(t, list, 3, "the two and what is between them")
}
