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
	// targets and excludes are those that were asked for, and the dependents that were added.
	targets, excludes *urn.PatternSet
}

func newSelection(asked stages.Targeting) selection {
	return selection{asked: asked, targets: asked.Targets.Clone(), excludes: asked.Excludes.Clone()}
}

// includes reports whether a resource is part of the operation. References of the kinds in without do not make it a dependent.
func (s selection) includes(r *state.Resource, without graph.Kind) bool {
	switch {
	case s.asked.Targets.IsConstrained():
		return s.asked.Targets.Matches(r.URN) || s.asked.TargetDependents && refersTo(r, s.targets, without)
	case s.asked.Excludes.IsConstrained():
		return !s.asked.Excludes.Matches(r.URN) && !(s.asked.ExcludeDependents && refersTo(r, s.excludes, without))
	}
	return true
}

// setFor returns the set to which a resource is added that was judged, so that its dependents follow it; nil if nothing follows.
func (s selection) setFor(included bool) *urn.PatternSet {
	switch {
	case s.asked.Targets.IsConstrained() && included:
		return s.targets
	case s.asked.Excludes.IsConstrained() && !included:
		return s.excludes
	}
	return nil
}

// refersTo reports whether a state refers to a member of the set by a reference of another kind than those in without.
func refersTo(s *state.Resource, set *urn.PatternSet, without graph.Kind) bool {
	for ref := range s.References() {
		if ref.Kind&without == 0 && set.Matches(ref.URN) {
			return true
		}
	}
	return false
}
