package state

import "github.com/sluice-iac/sluice/urn"

// Rebuild returns the base after a refresh (steps.md 7.3, state.md 3.7): resources that refreshed maps to nil are
// gone, those it maps to another resource are replaced in place, the rest stays. References to what has not been
// passed by then are dropped, and a missing parent is replaced by the nearest ancestor that is left.
func Rebuild(base []*Resource, refreshed map[*Resource]*Resource) []*Resource {
	parents := make(map[urn.URN]urn.URN, len(base))
	kept := make([]*Resource, 0, len(base))
	for _, r := range base {
		parents[r.URN] = r.Parent
		now, known := refreshed[r]
		if !known {
			now = r
		}
		if now != nil {
			kept = append(kept, now)
		}
	}
	passed := make(map[urn.URN]bool, len(kept))
	for i, r := range kept {
		kept[i] = undangle(r, func(u urn.URN) bool { return passed[u] }, func(u urn.URN) urn.URN { return parents[u] })
		passed[r.URN] = true
	}
	return kept
}

// undangle returns r without references to what does not exist. parentOf knows the parents of what is gone.
func undangle(r *Resource, exists func(urn.URN) bool, parentOf func(urn.URN) urn.URN) *Resource {
	return mapReferences(r, func(kind referenceKind, u urn.URN) urn.URN {
		switch kind {
		case refDependency, refPropertyDependency, refDeletedWith, refReplaceWith:
			if !exists(u) {
				return ""
			}
		case refParent:
			return ancestor(u, exists, parentOf)
		}
		return u
	})
}

// ancestor returns the first of u, its parent, that one's parent and so on that exists, "" for none. A circle of
// parents, which only a damaged state has, ends the search.
func ancestor(u urn.URN, exists func(urn.URN) bool, parentOf func(urn.URN) urn.URN) urn.URN {
	visited := map[urn.URN]bool{}
	for u != "" && !exists(u) {
		if visited[u] {
			return ""
		}
		visited[u] = true
		u = parentOf(u)
	}
	return u
}
