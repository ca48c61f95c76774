package book

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Steps returns the steps taken, in an order that does not depend on timing, and how many there were of each kind that is
// counted: every resource after what it refers to, ties in the order of the recorded state and then of the URNs; the
// steps of one resource in the order in which they were taken.
func (r *Book) Steps() ([]stages.StepInfo, map[stages.Op]int) {
	steps := r.final(r.Record.allReported())
	byURN := map[urn.URN][]stages.StepInfo{}
	var urns []urn.URN
	for _, s := range steps {
		if _, ok := byURN[s.URN]; !ok {
			urns = append(urns, s.URN)
		}
		byURN[s.URN] = append(byURN[s.URN], s.Shown())
	}
	slices.Sort(urns)
	out := make([]stages.StepInfo, 0, len(steps))
	for _, u := range r.inOrder(urns, func(u urn.URN) *state.Resource { return stateOf(byURN[u]) }) {
		out = append(out, byURN[u]...)
	}
	return out, countsOf(out)
}

// countsOf counts the steps that are meant for users, by kind (steps.md 8.3).
func countsOf(steps []stages.StepInfo) map[stages.Op]int {
	counts := map[stages.Op]int{}
	for _, s := range steps {
		if !s.Op.IsLogical() || s.Internal || s.Op == stages.OpRead && (s.Old == nil || property.EqualMaps(s.Old.Outputs, s.New.Outputs)) {
			continue
		}
		counts[s.Op]++
	}
	return counts
}

// stateOf returns what the steps of a resource leave behind, or what they began with.
func stateOf(steps []stages.StepInfo) *state.Resource {
	if last := steps[len(steps)-1].New; last != nil {
		return last
	}
	return steps[0].Old
}

// inOrder sorts URNs canonically. of returns the state of one, which may be nil.
func (r *Book) inOrder(urns []urn.URN, of func(urn.URN) *state.Resource) []urn.URN {
	var b graph.Builder
	b.AddNodes(len(urns))
	at := make(map[urn.URN]graph.ID, len(urns))
	for i, u := range urns {
		at[u] = graph.ID(i)
	}
	for i, u := range urns {
		res := of(u)
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
		if old := r.Base.Olds[urns[id]]; old != nil {
			id, _ := r.Base.ID(old)
			return int64(id)
		}
		return int64(len(r.Base.Resources)) + int64(id)
	}})
	if err != nil {
		return urns // deletes and creates of a swap may refer to each other: fall back to the URNs' order
	}
	out := make([]urn.URN, len(order))
	for i, id := range order {
		out[i] = urns[id]
	}
	return out
}

// Lookup finds a resource that was registered or read in this run and whose step is done.
func (r *Book) Lookup(u urn.URN) (*state.Resource, bool) { return r.Results.Lookup(u) }

// StackOutputs returns the outputs of the root stack as they are after the run.
func (r *Book) StackOutputs() property.Map {
	root := r.root
	s, ok := r.Results.Lookup(root)
	if !ok {
		s = r.Results.Current(r.Base.Olds[root]) // the run came to nothing before the stack was registered
	}
	if s == nil {
		return property.Map{}
	}
	return s.Outputs
}

// OldStackOutputs returns the outputs of the root stack as they were before the run.
func (r *Book) OldStackOutputs() property.Map {
	if s := r.Base.Olds[r.root]; s != nil {
		return s.Outputs
	}
	return property.Map{}
}

// IsUncertain reports whether the outcome of some operation is unknown (steps.md 9.3).
func (r *Book) IsUncertain() bool {
	return r.Record.isUncertain()
}
