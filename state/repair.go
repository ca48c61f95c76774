package state

import (
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

// Repair returns a snapshot that passes [Verify], made by ordering the resources and dropping what refers to nothing
// (state.md 1.15). A resource whose parent is missing becomes a root resource under a new URN, and what referred to it
// follows. Without such a form it returns an error and no snapshot: a [*CycleError], or the [*IntegrityError] that is
// left. s is not changed; a valid s is returned as it is.
//
// A magic that does not match is not repaired here: the writer of the next checkpoint sets a new one.
func Repair(s *Snapshot) (*Snapshot, error) {
	if Verify(s) == nil {
		return s, nil
	}
	ordered, err := topological(slices.Clone(s.Resources))
	if err != nil {
		return nil, err
	}
	out := *s
	out.Resources = prune(ordered)
	if err := Verify(&out); err != nil {
		return nil, err
	}
	return &out, nil
}

// prune drops references to resources that have not been passed, and follows the renames that this causes.
func prune(rs []*Resource) []*Resource {
	now := make(renames, len(rs)) // every resource passed: URN before to URN after
	out := make([]*Resource, len(rs))
	for i, r := range rs {
		own := r.URN
		switch parent, ok := now[r.Parent]; {
		case r.Parent == "":
		case !ok:
			own = r.URN.Under("")
		case parent != r.Parent:
			own = r.URN.Under(parent)
		}
		out[i] = mapReferences(r, func(kind referenceKind, u urn.URN) urn.URN {
			switch kind {
			case refSelf:
				return own
			case refProvider, refViewOf:
				return now.of(u)
			default:
				return now[u]
			}
		})
		now[r.URN] = own
	}
	return out
}
