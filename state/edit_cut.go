package state

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/urn"
)

// DroppedReference is a reference that an edit had to drop.
type DroppedReference struct {
	Resource urn.URN // with its URN before the edit
	Target   urn.URN
	Relation string // "depends on", "is deleted with", "is replaced with", "is a child of"
	Property string // the property whose value depends on the target; "" for other relations
}

func (c DroppedReference) String() string {
	if c.Property != "" {
		return fmt.Sprintf("property %s of %s %s %s", c.Property, c.Resource, c.Relation, c.Target)
	}
	return fmt.Sprintf("%s %s %s", c.Resource, c.Relation, c.Target)
}

// referencesTo lists the references of r, except to its parent and provider, for whose targets pred is true: in the order of
// [Resource.References], each once.
func referencesTo(r *Resource, pred func(urn.URN) bool) []DroppedReference {
	var cuts []DroppedReference
	for ref := range r.byURN() {
		if ref.Kind == graph.Parent || ref.URN == "" || !pred(ref.URN) {
			continue
		}
		c := DroppedReference{r.URN, ref.URN, relationOf(ref.Kind), ref.Property}
		if !slices.Contains(cuts, c) {
			cuts = append(cuts, c)
		}
	}
	return cuts
}

// relationOf returns the words for a kind of reference.
func relationOf(k graph.Kind) string {
	switch k {
	case graph.Parent:
		return "is a child of"
	case graph.DeletedWith:
		return "is deleted with"
	case graph.ReplaceWith:
		return "is replaced with"
	default:
		return "depends on"
	}
}

// dropReferences returns r without the references that [referencesTo] lists, and the list.
func dropReferences(r *Resource, pred func(urn.URN) bool) (*Resource, []DroppedReference) {
	cuts := referencesTo(r, pred)
	if cuts == nil {
		return r, nil
	}
	return mapReferences(r, func(kind referenceKind, u urn.URN) urn.URN {
		switch kind {
		case refDependency, refPropertyDependency, refDeletedWith, refReplaceWith:
			if pred(u) {
				return ""
			}
		}
		return u
	}), cuts
}
