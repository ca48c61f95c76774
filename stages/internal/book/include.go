package book

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// standBy decides whether the run makes a registration what the program declares, and whether its recorded state is read
// again first. Both follow from what was decided about the resources that it refers to, which the program has been told
// before. The names must be locked.
func (r locator) standBy(l *stages.Located) {
	if r.Mode != stages.ModeUpdate {
		switch {
		case r.isStranded(l):
			l.Course = stages.RefersToSkipped
		case l.Goal != nil && l.Goal.IsManaged():
			l.Course = stages.Bypassed
		}
	}
	if r.RefreshEach && l.Goal != nil && l.Old != nil && r.includes(l.Old) {
		l.Origin = stages.ToReread
		r.Names.readers[l.Old] = l.Seq
	}
}

// isStranded reports whether a registration or a read refers to something that is not created.
func (r locator) isStranded(l *stages.Located) bool {
	if l.Read != nil && l.Read.ID.HasUnknowns() {
		return true
	}
	for ref := range l.Unmade(stages.Checked{}).References() {
		if r.Outcomes.Has(ref.URN, SkippedCreate) {
			return true
		}
	}
	return false
}

// IncludesRecorded is include for a recorded state, of which nothing is part without being named.
func (r *Book) IncludesRecorded(s *state.Resource) bool {
	r.Names.mu.RLock()
	defer r.Names.mu.RUnlock()
	return r.includes(s)
}

// includes is includesRecorded while the names are locked.
func (r *Book) includes(s *state.Resource) bool {
	sel, grown := r.Targeting, r.Names.grown
	switch {
	case sel.Targets.IsConstrained():
		return sel.Targets.Matches(s.URN) || sel.TargetDependents && refersTo(s, grown.targets, 0)
	case sel.Excludes.IsConstrained():
		return !sel.Excludes.Matches(s.URN) && !(sel.ExcludeDependents && refersTo(s, grown.excludes, 0))
	}
	return true
}

// refersTo reports whether a state refers to a member of the set, in another way than one of those left out.
func refersTo(s *state.Resource, set *urn.PatternSet, without graph.Kind) bool {
	for ref := range s.References() {
		if ref.Kind&without == 0 && set.Matches(ref.URN) {
			return true
		}
	}
	return false
}

// NoteDeclared keeps in mind what a destroy is to delete at its end: everything that its program's registrations and reads
// have led to.
func (r *Book) NoteDeclared(steps []*stages.Decision) {
	if r.Mode != stages.ModeDestroy {
		return
	}
	for _, s := range steps {
		if s.New != nil && s.Kind != stages.Uncreated && s.Op != stages.OpReplace {
			r.Declared = append(r.Declared, s)
		}
	}
}

// include decides whether a registration is part of the operation, and lets targets and excludes grow (steps.md 6.2, 6.3).
// The names must be locked.
func (r locator) include(l *stages.Located) {
	if l.Goal == nil || stages.IsImplicit(l.Goal.Type) {
		return
	}
	sel, n, included := r.Targeting, r.Names, true
	grows := !r.Outcomes.IsDeletedByClosure(l.Claimed) && (l.Old == nil || !l.Old.External)
	switch {
	case sel.Targets.IsConstrained():
		included = sel.Targets.Matches(l.URN) || sel.TargetDependents && dependsOnAny(l, n.grown.targets)
		if included && grows {
			n.grown.targets.Add(l.URN)
		}
	case sel.Excludes.IsConstrained():
		included = !sel.Excludes.Matches(l.URN) && !(sel.ExcludeDependents && dependsOnAny(l, n.grown.excludes))
		if !included && grows {
			n.grown.excludes.Add(l.URN)
		}
	}
	if included {
		return
	}
	l.Course = stages.LeftOut
	if l.Alias != "" {
		n.kept[l.Alias] = true // the program is told the recorded name
	}
}

// dependsOnAny reports whether the registration refers to a member of the set.
func dependsOnAny(l *stages.Located, set *urn.PatternSet) bool {
	return refersTo(l.NewState(stages.Checked{}), set, 0)
}

// Refreshable returns the choice of base states that a refresh reads: the targets and, with TargetDependents, what depends
// on them; or all but the excludes (steps.md 7.1).
func (r *Book) Refreshable() func(*state.Resource) bool {
	sel := r.Targeting
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
