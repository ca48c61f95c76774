package book

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Steps returns the steps taken, in an order that does not depend on timing: every resource after what it refers to, ties in the
// order of the recorded state and then of the URNs; the steps of one resource in the order in which they were taken. It is called once the
// run is over.
func (book *Book) Steps() []stages.StepInfo {
	steps := book.final(book.Record.allReported())
	slices.SortStableFunc(steps, func(a, b stages.Step) int { return cmp.Or(cmp.Compare(a.URN, b.URN), a.Rank.Compare(b.Rank)) })
	var urns []urn.URN
	var ends []int // by URN
	for i, s := range steps {
		if i == 0 || s.URN != steps[i-1].URN {
			urns, ends = append(urns, s.URN), append(ends, i)
		}
		ends[len(ends)-1]++
	}
	of := func(i int) []stages.Step {
		if i == 0 {
			return steps[:ends[0]]
		}
		return steps[ends[i-1]:ends[i]]
	}
	out := make([]stages.StepInfo, 0, len(steps))
	for _, i := range book.inOrder(urns, func(i int) *state.Resource { return stateOf(of(i)) }) {
		for _, s := range of(i) {
			out = append(out, s.Shown())
		}
	}
	return out
}

// Counts counts the steps that are meant for users, by kind (steps.md 8.3), and among them the changes that are only possible, which is
// nil if there are none. It is called once the run is over.
func (book *Book) Counts() (all, possible map[stages.Op]int) {
	all = map[stages.Op]int{}
	for _, step := range book.final(book.Record.allReported()) {
		s := step.Shown()
		if !s.Op.IsLogical() || s.Internal || s.Op == stages.OpRead && (s.Old == nil || property.EqualMaps(s.Old.Outputs, s.New.Outputs)) {
			continue
		}
		all[s.Op]++
		if s.IsPossible() {
			if possible == nil {
				possible = map[stages.Op]int{}
			}
			possible[s.Op]++
		}
	}
	return all, possible
}

// stateOf returns what the steps of a resource leave behind, or what they began with.
func stateOf(steps []stages.Step) *state.Resource {
	if last := steps[len(steps)-1].Shown().New; last != nil {
		return last
	}
	return steps[0].Shown().Old
}

// inOrder sorts URNs canonically, and returns their places in the list. of returns the state of one, which may be nil.
func (book *Book) inOrder(urns []urn.URN, of func(int) *state.Resource) []int {
	var b graph.Builder
	b.AddNodes(len(urns))
	at := make(map[urn.URN]graph.ID, len(urns))
	for i, u := range urns {
		at[u] = graph.ID(i)
	}
	for i := range urns {
		res := of(i)
		if res == nil {
			continue
		}
		for ref := range res.References() {
			if id, ok := at[ref.URN]; ok && id != graph.ID(i) {
				b.AddEdge(graph.ID(i), id, ref.Kind)
			}
		}
	}
	order, err := b.Graph().TopologicalOrder(graph.Order{Priority: func(id graph.ID) int64 {
		if old := book.Base.Olds[urns[id]]; old != nil {
			id, _ := book.Base.ID(old)
			return int64(id)
		}
		return int64(len(book.Base.Resources)) + int64(id)
	}})
	places := make([]int, len(urns))
	for i := range places {
		if places[i] = i; err == nil {
			places[i] = int(order[i])
		}
	}
	return places // in the URNs' order if deletes and creates of a swap refer to each other
}

// Lookup finds a resource that was registered or read in this run and whose step is done.
func (book *Book) Lookup(u urn.URN) (*state.Resource, bool) { return book.Results.Lookup(u) }

// StackOutputs returns the outputs of the root stack as they are after the run.
func (book *Book) StackOutputs() property.Map {
	root := book.root
	s, ok := book.Results.Lookup(root)
	if !ok {
		s = book.Results.Current(book.Base.Olds[root]) // the run came to nothing before the stack was registered
	}
	if s == nil {
		return property.Map{}
	}
	return s.Outputs
}

// OldStackOutputs returns the outputs of the root stack as they were before the run.
func (book *Book) OldStackOutputs() property.Map {
	if s := book.Base.Olds[book.root]; s != nil {
		return s.Outputs
	}
	return property.Map{}
}

// IsUncertain reports whether the outcome of some operation is unknown (steps.md 9.3).
func (book *Book) IsUncertain() bool {
	return book.Record.isUncertain()
}
