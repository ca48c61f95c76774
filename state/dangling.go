package state

import "github.com/sluice-iac/sluice/urn"

// Rebuild returns the base after a refresh ([steps.md 7.3], [state.md 3.7]): resources that refreshed maps to nil are removed,
// those that it maps to another resource are replaced in place, the rest stays. A reference is dropped unless its target is
// among the earlier resources. A missing parent is dropped as well: the next update gives the child its parent again
// (decision 0011).
//
// [state.md 3.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#37-dangling-references
// [steps.md 7.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#73-rebuilding-the-base
func Rebuild(base []*Resource, refreshed map[*Resource]*Resource) []*Resource {
	kept := make([]*Resource, 0, len(base))
	for _, r := range base {
		now, known := refreshed[r]
		if !known {
			now = r
		}
		if now != nil {
			kept = append(kept, now)
		}
	}
	seen := make(map[urn.URN]bool, len(kept))
	for i, r := range kept {
		kept[i] = dropDangling(r, func(u urn.URN) bool { return seen[u] })
		seen[r.URN] = true
	}
	return kept
}

// dropDangling returns r without references to URNs that do not exist.
func dropDangling(r *Resource, exists func(urn.URN) bool) *Resource {
	return mapReferences(r, func(kind referenceKind, u urn.URN) urn.URN {
		switch kind {
		case refDependency, refPropertyDependency, refDeletedWith, refReplaceWith, refParent:
			if !exists(u) {
				return ""
			}
		}
		return u
	})
}
