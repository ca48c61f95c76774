package rooms

import (
	"fmt"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// NamesWriter names registrations. Only lookup has it, which handles one registration at a time. It reads the names without their
// lock, because nothing else writes them, except for the names of views.
type NamesWriter struct {
	rooms *Rooms
	names *Names
	next  int
}

// Locate numbers a registration, gives it its URN and finds the recorded state that it continues, as one action (ORD-1). An error
// is one of the program, with the code of its diagnostic.
func (w *NamesWriter) Locate(in stages.Registered) (l stages.Located, code int, err error) {
	w.next++
	l = stages.Located{Registered: in, Seq: w.next}
	e := entry{seq: w.next}
	code, err = w.claim(&l, &e)
	w.include(&l, &e)
	if err == nil {
		w.chooseCourse(&l, &e)
	}
	if owner, isView := w.names.enter(e); isView {
		return l, 0, isViewError(l.URN, owner)
	}
	return l, code, err
}

// IsOf reports whether the URN of a registration is in use by that registration, and not by another one.
func (w *NamesWriter) IsOf(l stages.Located) bool {
	seq, ok := w.names.SeenBy(l.URN)
	return ok && seq == l.Seq
}

func isViewError(u, owner urn.URN) error {
	return fmt.Errorf("%v is a view that the provider of %v publishes: give the resource another name", u, owner)
}

// claim chooses the URN and the recorded state of a registration.
func (w *NamesWriter) claim(l *stages.Located, e *entry) (code int, err error) {
	n, s := w.names, l.Subject()
	if !utf8.ValidString(s.Name) || !utf8.ValidString(string(s.Type)) { // it would be recorded under another URN
		return 0, fmt.Errorf("the resource %s %q has a name or a type that is not UTF-8, which a state cannot hold: give it another one", s.Type, s.Name)
	}
	if s.Parent != "" {
		if _, ok := n.seen[s.Parent]; !ok && !n.kept[s.Parent] && !w.hasFailed(s.Parent) {
			return 0, fmt.Errorf("could not find parent resource %v of %s %q", s.Parent, s.Type, s.Name)
		}
	}
	who := urn.Subject{Stack: w.rooms.root.Stack(), Project: w.rooms.root.Project(), Type: s.Type, Name: s.Name, Parent: s.Parent}
	l.URN = who.URN()
	if _, ok := n.seen[l.URN]; ok {
		n.refuseTwice(l.URN)
		return stages.CodeDuplicateURN, fmt.Errorf("Duplicate resource URN '%v'; try giving it a unique name", l.URN)
	}
	if owner, ok := n.ownerOf(l.URN); ok {
		return 0, isViewError(l.URN, owner)
	}
	e.urn = l.URN
	if old, ok := n.aliased[l.URN]; ok {
		l.Old = w.rooms.Base.Olds[l.URN]
		return stages.CodeURNIsAlias, fmt.Errorf("Duplicate resource URN '%v' conflicting with alias on resource with URN '%v'", l.URN, old)
	}
	if l.Old = w.rooms.Base.Olds[l.URN]; l.Old == nil {
		if code, err = w.claimAlias(l, who, s.Aliases); err != nil {
			return code, err
		}
		e.alias = l.Alias
	}
	if err := w.rooms.CheckReferences(*l); err != nil {
		return 0, err
	}
	l.Claimed, e.claimed = l.Old, l.Old
	l.InterruptedCreate = w.interruptionOf(l, who, s.Aliases)
	return 0, nil
}

// claimAlias looks for a recorded state under the aliases, in their order (steps.md 2.3, 2.4).
func (w *NamesWriter) claimAlias(l *stages.Located, who urn.Subject, aliases []urn.Alias) (code int, err error) {
	for _, a := range urn.ExpandAliases(who, aliases, w.names.matched) {
		old := w.rooms.Base.Olds[a]
		if old == nil || old.ViewOf != "" {
			continue
		}
		const text = "Duplicate resource alias '%v' applied to resource with URN '%v' conflicting with resource with URN '%v'"
		l.Old = old
		if _, ok := w.names.seen[a]; ok {
			return stages.CodeDuplicateAlias, fmt.Errorf(text, a, l.URN, a)
		}
		if other, ok := w.names.aliased[a]; ok {
			return stages.CodeDuplicateAlias, fmt.Errorf(text, a, l.URN, other)
		}
		l.Alias = a
		return 0, nil
	}
	return 0, nil
}

// hasFailed reports whether a URN is that of a resource that has failed. It may have no registration: a preview goes on after a failed remote
// component.
func (w *NamesWriter) hasFailed(u urn.URN) bool {
	_, failed := w.rooms.Failures.Of(u)
	return failed
}

// LacksProvider reports whether the provider of a registration or a read has failed.
func (w *NamesWriter) LacksProvider(l stages.Located) bool {
	ref, err := urn.ParseProviderRef(l.Subject().Provider)
	return err == nil && w.hasFailed(ref.URN)
}

func relation(k graph.Kind) string {
	switch k {
	case graph.DeletedWith:
		return "be deleted with"
	case graph.ReplaceWith:
		return "be replaced with"
	}
	return "depend on"
}

func ofProperty(ref state.Reference) string {
	if ref.Property == "" {
		return ""
	}
	return fmt.Sprintf(" (property %s)", ref.Property)
}

// interruptionOf returns the interrupted creates of the resource of a registration or a read, under its own URN or a former one;
// nil if there are none.
func (w *NamesWriter) interruptionOf(l *stages.Located, who urn.Subject, aliases []urn.Alias) *stages.InterruptedCreate {
	interrupted := w.rooms.InterruptedCreates.ByURN
	if len(interrupted) == 0 {
		return nil
	}
	if d := interrupted[l.URN]; d != nil {
		return d
	}
	for _, a := range urn.ExpandAliases(who, aliases, w.names.matched) {
		if d := interrupted[a]; d != nil {
			return d
		}
	}
	return nil
}

// chooseCourse decides the course of a registration, and whether its recorded state is read again first. Both follow from the
// decisions about the resources that it refers to, which were made before the program had their outputs.
func (w *NamesWriter) chooseCourse(l *stages.Located, e *entry) {
	if w.rooms.Mode != stages.ModeUpdate {
		switch {
		case w.refersToSkipped(l):
			l.Course = stages.RefersToSkipped
			e.leaves = l.Old != nil
		case l.Goal != nil && l.Goal.IsManaged():
			l.Course = stages.Bypassed
		}
	}
	if w.rooms.RefreshEach && l.Goal != nil && l.Old != nil && w.rooms.IncludesRecorded(l.Old, l.Seq) && w.rooms.isToRead(l.Old) {
		l.Origin = stages.ToReread
		e.reread = l.Old
	}
}

// refersToSkipped reports whether a registration or a read refers to something that is not created.
func (w *NamesWriter) refersToSkipped(l *stages.Located) bool {
	if l.Read != nil && l.Read.ID.HasUnknowns() {
		return true
	}
	for ref := range l.Unmade(stages.Checked{}).References() {
		if w.rooms.Decisions.Has(ref.URN, SkippedCreate) {
			return true
		}
	}
	return false
}

// include decides whether a registration is part of the operation, and adds members to targets and excludes (steps.md 6.2, 6.3).
func (w *NamesWriter) include(l *stages.Located, e *entry) {
	if l.Goal == nil || stages.IsImplicit(l.Goal.Type) {
		return
	}
	if !w.rooms.Targeting.IsPartial() {
		return
	}
	goesAlong := w.goesWithDependency(l, e)
	wanted := l.NewState(stages.Checked{})
	included := w.names.grown.includes(wanted, 0, l.Seq)
	e.leads = !goesAlong && (l.Old == nil || !l.Old.External) && w.names.grown.leads(included)
	if included || goesAlong { // a deleted resource is created again as the program declares it (decision 0167)
		return
	}
	l.Course = stages.LeftOut
	e.keepsName = true // the program gets the recorded name
}

// goesWithDependency reports whether a delete-before-replace of a dependency deletes the recorded state of the registration, in
// this run or an earlier one. That is decided by now. Deletes by others may be decided only later, and do not count.
func (w *NamesWriter) goesWithDependency(l *stages.Located, e *entry) bool {
	if !w.rooms.Decisions.IsDeletedByClosure(l.Claimed) {
		return false
	}
	if l.Claimed.PendingReplacement {
		return true
	}
	for _, d := range w.rooms.Decisions.DeletionsOf(l.Claimed) {
		if w.leadsTo(l.NewState(stages.Checked{}), d.Root) {
			e.led = d.Root
			return true
		}
	}
	return false
}

// leadsTo reports whether a state refers to the result of a registration, directly or through others.
func (w *NamesWriter) leadsTo(s *state.Resource, seq int) bool {
	seen := map[urn.URN]bool{}
	for todo := []*state.Resource{s}; len(todo) > 0; todo = todo[1:] {
		for ref := range todo[0].References() {
			if seen[ref.URN] {
				continue
			}
			seen[ref.URN] = true
			if w.names.seen[ref.URN] == seq || w.names.led[ref.URN] == seq {
				return true
			}
			if next, ok := w.rooms.Results.Lookup(ref.URN); ok {
				todo = append(todo, next)
			}
		}
	}
	return false
}
