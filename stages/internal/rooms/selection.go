package rooms

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// IncludesRecorded reports whether a recorded state is part of the operation. Unlike the check of a registration, it adds no target
// or exclude.
func (rooms *Rooms) IncludesRecorded(s *state.Resource) bool {
	return rooms.Names.includes(rooms.Targeting, s)
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

// Refreshable returns a function that reports whether a refresh reads a recorded state: the targets and, with TargetDependents,
// their dependents; or all but the excludes (steps.md 7.1). It must be called with every state, in the order of the base.
func (rooms *Rooms) Refreshable() func(*state.Resource) bool {
	sel := rooms.Targeting
	targets, excludes := sel.Targets.Clone(), sel.Excludes.Clone()
	return func(s *state.Resource) bool {
		switch {
		case sel.Targets.IsConstrained():
			if !targets.Matches(s.URN) && !(sel.TargetDependents && refersTo(s, targets, graph.Provider)) {
				return false
			}
			targets.Add(s.URN)
		case sel.Excludes.IsConstrained():
			if excludes.Matches(s.URN) || sel.ExcludeDependents && refersTo(s, excludes, graph.Provider) {
				excludes.Add(s.URN)
				return false
			}
		}
		return true
	}
}
