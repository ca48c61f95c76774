package book

import (
	"fmt"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// checkReferences refuses a registration whose state could not be recorded, before anything is made for it: one that refers
// to itself, or to what neither is recorded nor has been registered (steps.md 13). The names must be locked.
func (find locator) checkReferences(l *stages.Located) error {
	wanted := state.Resource{}
	switch {
	case l.Goal != nil:
		g := l.Goal
		wanted.Dependencies, wanted.PropertyDependencies, wanted.DeletedWith, wanted.ReplaceWith = g.Dependencies, g.PropertyDependencies,
			g.DeletedWith, g.ReplaceWith
	case l.Read != nil:
		wanted.Dependencies = l.Read.Dependencies
	}
	for ref := range wanted.References() {
		switch {
		case ref.URN == l.URN || ref.URN == l.Alias:
			return fmt.Errorf("%v cannot %s itself%s", l.URN, relation(ref.Kind), ofProperty(ref))
		case !find.isKnown(ref.URN):
			return fmt.Errorf("%v cannot %s %v%s: the program has not registered that, and it is not in the state of the stack",
				l.URN, relation(ref.Kind), ref.URN, ofProperty(ref))
		}
	}
	return nil
}

// isKnown reports whether a URN is that of a registration or of something recorded. The names must be locked.
func (find locator) isKnown(u urn.URN) bool {
	if _, ok := find.book.Names.seen[u]; ok || find.book.Names.kept[u] {
		return true
	}
	_, isView := find.book.Names.views[u]
	return isView || len(find.book.Base.All[u]) > 0
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
