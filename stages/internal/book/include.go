package book

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// chooseCourse decides what the run does with a registration, and whether its recorded state is read again first. Both follow
// from the decisions about the resources that it refers to, which the program knew before. The names must be locked.
func (find locator) chooseCourse(l *stages.Located) {
	if find.book.Mode != stages.ModeUpdate {
		switch {
		case find.refersToSkipped(l):
			l.Course = stages.RefersToSkipped
			find.book.Names.leaves = find.book.Names.leaves || l.Old != nil
		case l.Goal != nil && l.Goal.IsManaged():
			l.Course = stages.Bypassed
		}
	}
	if find.book.RefreshEach && l.Goal != nil && l.Old != nil && find.book.includes(l.Old) {
		l.Origin = stages.ToReread
		find.book.Names.read(l.Old, l.Seq)
	}
}

// refersToSkipped reports whether a registration or a read refers to something that is not created.
func (find locator) refersToSkipped(l *stages.Located) bool {
	if l.Read != nil && l.Read.ID.HasUnknowns() {
		return true
	}
	for ref := range l.Unmade(stages.Checked{}).References() {
		if find.book.Decisions.Has(ref.URN, SkippedCreate) {
			return true
		}
	}
	return false
}

// IncludesRecorded reports whether a recorded state is part of the operation. Unlike a registration it lets no target or
// exclude grow.
func (book *Book) IncludesRecorded(s *state.Resource) (included bool) {
	book.Names.shared(func() { included = book.includes(s) })
	return included
}

// includes is IncludesRecorded while the names are locked.
func (book *Book) includes(s *state.Resource) bool {
	sel, grown := book.Targeting, book.Names.grown
	switch {
	case sel.Targets.IsConstrained():
		return sel.Targets.Matches(s.URN) || sel.TargetDependents && refersTo(s, grown.targets, 0)
	case sel.Excludes.IsConstrained():
		return !sel.Excludes.Matches(s.URN) && !(sel.ExcludeDependents && refersTo(s, grown.excludes, 0))
	}
	return true
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

// NoteDeclared records what a destroy has to delete at its end: every state that registrations and reads of its program have
// produced.
func (book *Book) NoteDeclared(steps []*stages.Decision) {
	if book.Mode != stages.ModeDestroy {
		return
	}
	for _, s := range steps {
		if s.New != nil && s.Kind != stages.Uncreated && s.Op != stages.OpReplace {
			book.Declared = append(book.Declared, s)
		}
	}
}

// include decides whether a registration is part of the operation, and lets targets and excludes grow (steps.md 6.2, 6.3).
// The names must be locked.
func (find locator) include(l *stages.Located) {
	if l.Goal == nil || stages.IsImplicit(l.Goal.Type) {
		return
	}
	sel, n := find.book.Targeting, find.book.Names
	if !sel.Targets.IsConstrained() && !sel.Excludes.IsConstrained() {
		return
	}
	goesAlong := find.goesWithDependency(l)
	grows := !goesAlong && (l.Old == nil || !l.Old.External)
	var included bool
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
	if included || goesAlong { // what is deleted is created again as the program declares it (decision 0167)
		return
	}
	l.Course = stages.LeftOut
	if l.Alias != "" {
		n.kept[l.Alias] = true // the program gets the recorded name
	}
}

// goesWithDependency reports whether a delete-before-replace of something that the registration depends on deletes its recorded state, in this
// run or an earlier one. That has been decided then. Whether something else deletes the state may be decided only later, and does not count.
func (find locator) goesWithDependency(l *stages.Located) bool {
	if !find.book.Decisions.IsDeletedByClosure(l.Claimed) {
		return false
	}
	if l.Claimed.PendingReplacement {
		return true
	}
	for _, d := range find.book.Decisions.DeletionsOf(l.Claimed) {
		if find.leadsTo(l.NewState(stages.Checked{}), d.Root) {
			find.book.Names.led[l.URN] = d.Root
			return true
		}
	}
	return false
}

// leadsTo reports whether a state refers to what a registration has led to, directly or through others.
func (find locator) leadsTo(s *state.Resource, seq int) bool {
	seen := map[urn.URN]bool{}
	for todo := []*state.Resource{s}; len(todo) > 0; todo = todo[1:] {
		for ref := range todo[0].References() {
			if seen[ref.URN] {
				continue
			}
			seen[ref.URN] = true
			if find.book.Names.seen[ref.URN] == seq || find.book.Names.led[ref.URN] == seq {
				return true
			}
			if next, ok := find.book.Results.Lookup(ref.URN); ok {
				todo = append(todo, next)
			}
		}
	}
	return false
}

// dependsOnAny reports whether the registration refers to a member of the set.
func dependsOnAny(l *stages.Located, set *urn.PatternSet) bool {
	return refersTo(l.NewState(stages.Checked{}), set, 0)
}

// Refreshable returns a function that reports whether a refresh reads a recorded state: the targets and, with
// TargetDependents, what depends on them; or all but the excludes (steps.md 7.1). It must be called with every state, in the
// order of the base.
func (book *Book) Refreshable() func(*state.Resource) bool {
	sel := book.Targeting
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
