package graph

import (
	"fmt"
	"slices"
)

// Direction says which end of an edge goes first.
type Direction uint8

const (
	// DependenciesFirst is the direction of creating and refreshing.
	DependenciesFirst Direction = iota
	// DependentsFirst is the direction of deleting (steps.md 5.3).
	DependentsFirst
)

// Schedule says what orders the members of a [ReadySet].
type Schedule struct {
	Direction Direction
	Scope
}

// ReadySet hands out the members of a subset as what they wait for is done. There are no layers: a member is ready as soon
// as the last one before it has finished. A member that fails takes everything that waits for it out of the schedule, and
// nothing else (steps.md 5.3 rule 4 for deletes).
//
// A ReadySet does not look at the graph again after it is made. It belongs to one goroutine; [ReadySet.Run] shares it
// among workers.
type ReadySet struct {
	s         *induced
	after     adjacency // what waits for a node
	direction Direction
	waits     []int32
	status    []memberStatus
	fresh     []int32
	open      int // members that are not finished, failed or skipped
}

type memberStatus uint8

const (
	pending memberStatus = iota
	started
	finished
	failed
	skipped
)

// NewReadySet makes a schedule for the subset; repetitions count once, and an empty subset is done at once. The error is a
// [*CycleError] or nil. The cost is linear in the subset and its edges.
func NewReadySet(g *Graph, subset []ID, schedule Schedule) (*ReadySet, error) {
	if subset == nil {
		subset = []ID{}
	}
	s := g.induce(subset, schedule.Kinds, schedule.ThroughOthers)
	if err := s.settle(func(int32) {}); err != nil {
		return nil, err
	}
	before, after := s.dependencies, s.dependents
	if schedule.Direction == DependentsFirst {
		before, after = after, before
	}
	r := &ReadySet{
		s: s, after: after, direction: schedule.Direction,
		waits: s.waits(before), status: make([]memberStatus, len(s.ids)), open: s.members,
	}
	var idle []int32
	for i, w := range r.waits {
		if w == 0 {
			idle = append(idle, int32(i))
		}
	}
	r.release(idle)
	return r, nil
}

// Ready returns the members that may start now and have not been returned before, ascending. Each must be finished or
// failed once.
func (r *ReadySet) Ready() []ID {
	ready := r.take()
	out := make([]ID, len(ready))
	for n, i := range ready {
		out[n] = r.s.ids[i]
	}
	return out
}

func (r *ReadySet) take() []int32 {
	ready := r.fresh
	r.fresh = nil
	slices.Sort(ready)
	for _, i := range ready {
		r.status[i] = started
	}
	return ready
}

// Finish says that a member that Ready returned is done. It panics for any other node.
func (r *ReadySet) Finish(id ID) {
	i := r.end(id, finished)
	r.release(r.lower(i, nil))
}

// Fail says that a member that Ready returned did not get done. It returns, ascending, the members that are skipped on its
// account: those that wait for it, directly or through others, and were not skipped before. It panics for any node that
// Ready has not returned.
func (r *ReadySet) Fail(id ID) []ID {
	var lost []ID
	for todo := []int32{r.end(id, failed)}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range r.after.of(i) {
			if r.status[next] == skipped {
				continue
			}
			r.status[next] = skipped
			if r.s.isMember(next) {
				r.open--
				lost = append(lost, r.s.ids[next])
			}
			todo = append(todo, next)
		}
	}
	slices.Sort(lost)
	return lost
}

func (r *ReadySet) end(id ID, as memberStatus) int32 {
	i, found := r.s.at.at(id)
	if !found || r.status[i] != started {
		panic(fmt.Sprintf("graph: end of node %d, which has not been handed out or has ended before", id))
	}
	r.status[i] = as
	r.open--
	return i
}

// release makes members ready. Relays are over as soon as they start.
func (r *ReadySet) release(idle []int32) {
	for len(idle) > 0 {
		i := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		if r.s.isMember(i) {
			r.fresh = append(r.fresh, i)
			continue
		}
		r.status[i] = finished
		idle = r.lower(i, idle)
	}
}

// lower takes one wait off whatever waits for i and appends what now waits for nothing. A skipped node still counts a
// predecessor that will never finish, so it cannot turn up here.
func (r *ReadySet) lower(i int32, idle []int32) []int32 {
	for _, next := range r.after.of(i) {
		if r.waits[next]--; r.waits[next] == 0 {
			idle = append(idle, next)
		}
	}
	return idle
}

// Open returns how many members are not finished, failed or skipped.
func (r *ReadySet) Open() int { return r.open }

// Done reports whether nothing is left to hand out or to wait for.
func (r *ReadySet) Done() bool { return r.open == 0 }

// Skipped returns the members that were skipped because of failures, ascending.
func (r *ReadySet) Skipped() []ID { return r.with(skipped) }

// Failed returns the members that failed, ascending.
func (r *ReadySet) Failed() []ID { return r.with(failed) }

// Finished returns the members that finished, ascending.
func (r *ReadySet) Finished() []ID { return r.with(finished) }

// NotStarted returns the members that were never handed out and not skipped either, ascending.
func (r *ReadySet) NotStarted() []ID { return r.with(pending) }

func (r *ReadySet) with(status memberStatus) []ID {
	var out []ID
	for i, id := range r.s.ids[:r.s.members] {
		if r.status[i] == status {
			out = append(out, id)
		}
	}
	return out
}
