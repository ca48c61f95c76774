package rooms

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Summary answers what a run has decided and done. Its methods are called once the run is over.
type Summary struct {
	rooms *Rooms
}

// Summarize returns the summary of a run.
func Summarize(r *Rooms) Summary { return Summary{r} }

// Provisional returns the steps of states that are kept because something refers to them, and that no registration continues.
func (sum Summary) Provisional() []stages.Step {
	all := slices.DeleteFunc(sum.rooms.Outcomes.allReported(), func(d *stages.Decision) bool { return d.Kind != stages.Provisional })
	steps := sum.final(all)
	slices.SortStableFunc(steps, func(a, b stages.Step) int { return a.Rank.Compare(b.Rank) })
	return steps
}

// Kept returns the names of the resources that stay although the program has not declared them, because something failed, in order.
// Default providers are left out, and so is what only awaits its replacement: its object is gone.
func (sum Summary) Kept() []urn.URN {
	var out []urn.URN
	for _, d := range sum.rooms.Decisions.allCarried() {
		if d.Reason.Kind == stages.ReasonUndecided && !d.Internal && !d.New.PendingReplacement {
			out = append(out, d.URN)
		}
	}
	return urn.SortedSet(out)
}

// Decided returns all decisions of the run, first those about registrations in the order of their arrival, then the rest.
func (sum Summary) Decided() []stages.Decided {
	noted := sum.rooms.Outcomes.with(sum.rooms.Decisions.allNoted())
	steps := sum.final(append(noted, sum.rooms.Omissions.all()...))
	for _, d := range sum.rooms.Decisions.allCarried() {
		steps = append(steps, stages.Step{Decision: d, Outcome: stages.Outcome{Fate: stages.FateDone, Made: d.New}})
	}
	slices.SortStableFunc(steps, func(a, b stages.Step) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.URN, b.URN), a.Rank.Compare(b.Rank))
	})
	out, shown := make([]stages.Decided, len(steps)), make([]stages.StepInfo, len(steps))
	for i, s := range steps {
		shown[i] = s.Shown()
		out[i] = stages.Decided{StepInfo: &shown[i], Fate: s.Fate, Declared: s.Declared, Wanted: shown[i].New}
		if s.Fate == stages.FateFailed {
			out[i].Wanted = s.New
		}
		if s.Fate == stages.FateNotReached {
			if cause, ok := sum.rooms.Failures.Of(s.URN); ok {
				out[i].Fate, out[i].FailedDependency = stages.FateSkipped, cause
			}
		}
	}
	return out
}

// Steps returns the executed steps, in an order that does not depend on timing: every resource after those that it refers to, ties
// in the order of the recorded state and then of the URNs; the steps of one resource in the order in which they were executed.
func (sum Summary) Steps() []stages.StepInfo {
	steps := sum.final(sum.rooms.Outcomes.allReported())
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
	for _, i := range inOrder(sum.rooms.Base, urns, func(i int) *state.Resource { return stateOf(of(i)) }) {
		for _, s := range of(i) {
			out = append(out, s.Shown())
		}
	}
	return out
}

// Counts counts the steps that are meant for users, by kind (steps.md 8.3). possible counts those that are only possible; it is nil
// if there are none.
func (sum Summary) Counts() (all, possible map[stages.Op]int) {
	all = map[stages.Op]int{}
	for _, step := range sum.final(sum.rooms.Outcomes.allReported()) {
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

// StackOutputs returns the outputs of the root stack as they are after the run.
func (sum Summary) StackOutputs() property.Map {
	root := sum.rooms.root
	s, ok := sum.rooms.Results.Lookup(root)
	if !ok {
		s = sum.rooms.Results.Current(sum.rooms.Base.Olds[root]) // the run ended before the stack was registered
	}
	if s == nil {
		return property.Map{}
	}
	return s.Outputs
}

// OldStackOutputs returns the outputs of the root stack as they were before the run.
func (sum Summary) OldStackOutputs() property.Map { return sum.rooms.RecordedOutputs(sum.rooms.root) }

// final completes a list of decisions once the run is over, in their order. It leaves out void decisions: a decision to keep a
// recorded state because something refers to it is void if a registration continues the state, earlier or later (steps.md 6.5). A
// state that is kept for several resources is listed for the first of them by name, and one that several delete-before-replaces delete
// has the first of these as its reason.
func (sum Summary) final(ds []*stages.Decision) []stages.Step {
	out := make([]stages.Step, 0, len(ds))
	for _, s := range sum.rooms.Outcomes.stepsOf(ds) {
		if why, ok := sum.closureReason(s.Decision); ok {
			deleted := *s.Decision
			deleted.Reason = why
			s.Decision = &deleted
		}
		if s.Kind == stages.Provisional {
			if _, claimed := sum.rooms.Names.Claimant(s.Old); claimed {
				continue
			}
			if user, ok := sum.rooms.Decisions.firstUser(s.Old); ok {
				kept := *s.Decision
				kept.Reason = stages.Reason{Kind: stages.ReasonCarriedForward, Cause: user}
				s.Decision = &kept
			}
		}
		out = append(out, s)
	}
	return out
}

// closureReason returns the reason of a step that deletes a member of a closure, and false for any other step.
func (sum Summary) closureReason(d *stages.Decision) (stages.Reason, bool) {
	if d.Old == nil || d.New != nil || d.Declared == "" || d.Declared == d.URN {
		return stages.Reason{}, false
	}
	return sum.rooms.Decisions.ReasonOf(d.Old)
}

// stateOf returns the state that the steps of a resource leave, or the one that they began with.
func stateOf(steps []stages.Step) *state.Resource {
	if last := steps[len(steps)-1].Shown().New; last != nil {
		return last
	}
	return steps[0].Shown().Old
}

// inOrder sorts URNs canonically, and returns their places in the list. of returns the state of one, which may be nil.
func inOrder(base *Base, urns []urn.URN, of func(int) *state.Resource) []int {
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
		if old := base.Olds[urns[id]]; old != nil {
			id, _ := base.ID(old)
			return int64(id)
		}
		return int64(len(base.Resources)) + int64(id)
	}})
	places := make([]int, len(urns))
	for i := range places {
		if places[i] = i; err == nil {
			places[i] = int(order[i])
		}
	}
	return places // in the URNs' order if deletes and creates of a swap refer to each other
}
