package state

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/urn"
)

// Repair returns a snapshot that passes [Verify]: it orders the resources and drops dangling references ([state.md 1.15]). A
// resource whose parent is missing becomes a root resource under a new URN, and references to it follow. If that is not
// possible it returns an error and no snapshot: a [*ReferenceCycleError], or the [*IntegrityError] that remains. s is not
// changed; a valid s is returned as it is.
//
// A magic that does not match is not repaired here: the writer of the next checkpoint sets a new one.
//
// [state.md 1.15]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#115-repair
func Repair(s *Snapshot) (*Snapshot, error) {
	out, _, err := repair(s)
	return out, err
}

// Repairs are the changes of [RepairAll].
type Repairs struct {
	Magic   bool               // the manifest's magic is new
	Ordered []urn.URN          // resources that came before one that they refer to, or in its way
	Renamed []Renamed          // resources whose parents are missing or renamed
	Dropped []DroppedReference // dangling references
}

// Renamed is a URN before and after.
type Renamed struct{ From, To urn.URN }

// RepairAll is [Repair] at the request of a user: a magic that does not match is set anew, malformed URNs are an error
// too, and the repairs are returned. A valid s is returned as it is, with nil.
func RepairAll(s *Snapshot) (*Snapshot, *Repairs, error) {
	in := *s
	magic := in.Manifest.Magic != Magic(in.Manifest.Version)
	in.Manifest.Magic = Magic(in.Manifest.Version)
	if err := VerifyNames(&in); err != nil {
		return nil, nil, err
	}
	out, done, err := repair(&in)
	if err != nil {
		return nil, nil, err
	}
	if done == nil && !magic {
		return s, nil, nil
	}
	if done == nil {
		done = &Repairs{}
	}
	done.Magic = magic
	return out, done, nil
}

// repair returns no repairs for a snapshot that is valid.
func repair(s *Snapshot) (*Snapshot, *Repairs, error) {
	if Verify(s) == nil {
		return s, nil, nil
	}
	ordered, err := topological(slices.Clone(s.Resources))
	if err != nil {
		return nil, nil, err
	}
	done := &Repairs{Ordered: displaced(s.Resources, ordered)}
	out := *s
	out.Resources = done.prune(ordered)
	if err := Verify(&out); err != nil {
		return nil, nil, err
	}
	return &out, done, nil
}

// prune drops references that are not to an earlier resource, and applies the renames that this causes.
func (done *Repairs) prune(rs []*Resource) []*Resource {
	now := make(renames, len(rs)) // every resource so far: URN before to URN after
	out := make([]*Resource, len(rs))
	for i, r := range rs {
		own := r.URN
		switch parent, ok := now[r.Parent]; {
		case r.Parent == "":
		case !ok:
			own = r.URN.Under("")
			done.Dropped = append(done.Dropped, DroppedReference{Resource: r.URN, Target: r.Parent, Relation: relationOf(graph.Parent)})
		case parent != r.Parent:
			own = r.URN.Under(parent)
		}
		if own != r.URN {
			done.Renamed = append(done.Renamed, Renamed{r.URN, own})
		}
		done.Dropped = append(done.Dropped, referencesTo(r, func(u urn.URN) bool { return !has(now, u) })...)
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

// displaced returns the fewest resources whose moves explain the order of after: those outside a longest part that has
// kept its order.
func displaced(before, after []*Resource) []urn.URN {
	at := make(map[*Resource]int, len(before))
	for i, r := range before {
		at[r] = i
	}
	// tails[n] is the index in after that ends the best increasing part of length n+1; previous links its members.
	var tails []int
	previous := make([]int, len(after))
	for i, r := range after {
		n, _ := slices.BinarySearchFunc(tails, at[r], func(j, place int) int { return at[after[j]] - place })
		previous[i] = -1
		if n > 0 {
			previous[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	stayed := make([]bool, len(after))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = previous[i] {
			stayed[i] = true
		}
	}
	var out []urn.URN
	for i, r := range after {
		if !stayed[i] {
			out = append(out, r.URN)
		}
	}
	return out
}
