package rooms

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// selection decides what is part of an operation: the targets, or all but the excludes. If these extend to dependents, a resource also counts if it
// refers to one that was added before (steps.md 6.2, 6.3, 7.1). Resources must therefore be judged in an order in which dependencies come before their
// dependents.
type selection struct {
	asked stages.Targeting
	// added are the resources that their dependents follow, each with the number of the registration by which it was added.
	added map[urn.URN]int
}

func newSelection(asked stages.Targeting) selection {
	return selection{asked: asked, added: map[urn.URN]int{}}
}

// includes reports whether a resource is part of the operation, by what was added up to a registration. References of the kinds in without do not
// make it a dependent.
func (s selection) includes(r *state.Resource, without graph.Kind, upTo int) bool {
	switch {
	case s.asked.Targets.IsConstrained():
		return s.asked.Targets.Matches(r.URN) || s.asked.TargetDependents && s.follows(r, s.asked.Targets, without, upTo)
	case s.asked.Excludes.IsConstrained():
		return !s.asked.Excludes.Matches(r.URN) && !(s.asked.ExcludeDependents && s.follows(r, s.asked.Excludes, without, upTo))
	}
	return true
}

// follows reports whether a resource refers to a member of a set, or to a resource that was added, by a reference of another kind than those in without.
func (s selection) follows(r *state.Resource, set *urn.PatternSet, without graph.Kind, upTo int) bool {
	for ref := range r.References() {
		if ref.Kind&without != 0 {
			continue
		}
		if by, was := s.added[ref.URN]; was && by <= upTo || set.Matches(ref.URN) {
			return true
		}
	}
	return false
}

// leads reports whether the dependents of a resource that was judged follow it.
func (s selection) leads(included bool) bool {
	return s.asked.TargetDependents && s.asked.Targets.IsConstrained() && included ||
		s.asked.ExcludeDependents && s.asked.Excludes.IsConstrained() && !included
}
