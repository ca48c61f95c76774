package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Subtree has the recorded states of a resource and of all resources below it, by their parents.
type Subtree struct {
	Live []*Resource // the resource first, then the others in the order of the snapshot
	Old  []*Resource // copies of these and of resources below them that await deletion
}

// SubtreeOf returns the subtree of root, an entry of resources that does not await deletion. resources are in the order of a snapshot.
func SubtreeOf(resources []*Resource, root *Resource) Subtree {
	out := Subtree{Live: []*Resource{root}}
	within := map[urn.URN]bool{root.URN: true}
	for _, r := range resources {
		switch {
		case r == root:
		case r.Delete && (within[r.URN] || within[r.Parent]):
			out.Old = append(out.Old, r)
		case r.Delete || !within[r.Parent] && !within[r.ViewOf]:
		default:
			within[r.URN] = true
			out.Live = append(out.Live, r)
		}
	}
	return out
}

// EncodeList returns resources as a JSON array in the format of checkpoints, with secrets in the clear.
func EncodeList(ctx context.Context, resources []*Resource) ([]byte, error) {
	e := NewEncoder(EncoderOptions{Plaintext: true})
	out := []byte{'['}
	for i, r := range resources {
		text, err := e.Resource(ctx, renames{}.normalise(r), false)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	return append(out, ']'), nil
}

// DecodeList reads what [EncodeList] writes. A member that no resource has is an error.
func DecodeList(ctx context.Context, text []byte) ([]*Resource, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(text, &raws); err != nil {
		return nil, located(text, err)
	}
	read, err := newResourceReader(ctx, versionFeatures, nil, DecodeOptions{})
	if err != nil {
		return nil, err
	}
	out := make([]*Resource, len(raws))
	for i, raw := range raws {
		r, err := read.one(ctx, raw)
		if err == nil {
			err = checkUnderstood(ctx, raw, r)
		}
		if err != nil {
			return nil, fmt.Errorf("resource %d%s: %w", i, called(r), err)
		}
		out[i] = r
	}
	return out, nil
}

// called returns the URN of a resource, in parentheses.
func called(r *Resource) string {
	if r == nil || r.URN == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", r.URN)
}

// checkUnderstood refuses a text with members that its resource lacks.
func checkUnderstood(ctx context.Context, text []byte, r *Resource) error {
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	again, err := NewEncoder(EncoderOptions{Plaintext: true}).Resource(ctx, r, false)
	if err != nil {
		return err
	}
	if lost := lostIn(tree, again); lost != "" {
		return fmt.Errorf("%s means nothing in a state and would be lost; correct or remove it", lost)
	}
	return nil
}

// EqualText reports whether two resources are the same in a checkpoint.
func EqualText(ctx context.Context, a, b *Resource) (bool, error) {
	one, err := EncodeList(ctx, []*Resource{a})
	if err != nil {
		return false, err
	}
	two, err := EncodeList(ctx, []*Resource{b})
	return bytes.Equal(one, two), err
}

// Succession replaces names in references. The names of resources themselves stay.
type Succession struct {
	successors map[urn.URN]urn.URN
	ids        map[urn.URN]property.Value // of the successors; null for components
}

// NewSuccession returns the succession in which each URN gives way to the resource that successors has for it. That resource is one of next.
func NewSuccession(successors map[urn.URN]urn.URN, next []*Resource) Succession {
	s := Succession{successors, map[urn.URN]property.Value{}}
	for _, r := range next {
		s.ids[r.URN] = property.Null
		if r.Custom {
			s.ids[r.URN] = property.String(r.ID)
		}
	}
	return s
}

// In returns r with its references replaced, including those in its properties. A list names each resource once. r itself is returned if nothing
// changes.
func (s Succession) In(r *Resource) *Resource {
	if len(s.successors) == 0 {
		return r
	}
	out := renames(s.successors).references(r)
	replaced := out != r
	inProperties := false
	f := func(ref property.Reference) property.Reference {
		if next, ok := s.successors[ref.URN]; ok {
			inProperties = true
			return property.Reference{URN: next, ID: s.ids[next]}
		}
		return ref
	}
	inputs, outputs, trigger := r.Inputs.MapReferences(f), r.Outputs.MapReferences(f), r.ReplacementTrigger.MapReferences(f)
	if !replaced && !inProperties {
		return r
	}
	if out == r {
		out = r.Clone()
	}
	out.Inputs, out.Outputs, out.ReplacementTrigger = inputs, outputs, trigger
	out.Dependencies, out.ReplaceWith = once(out.Dependencies), once(out.ReplaceWith)
	if replaced && out.PropertyDependencies != nil {
		all := make(map[string][]urn.URN, len(out.PropertyDependencies))
		for name, list := range out.PropertyDependencies {
			all[name] = once(list)
		}
		out.PropertyDependencies = all
	}
	return out
}

// once returns a list without repetitions, the list itself if there are none.
func once(list []urn.URN) []urn.URN {
	seen := make(map[urn.URN]bool, len(list))
	for _, u := range list {
		seen[u] = true
	}
	if len(seen) == len(list) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(u urn.URN) bool {
		first := seen[u]
		seen[u] = false
		return !first
	})
}

// ReplaceSubtree returns s with next in the place of prior, which are entries of it. References of the other resources to a resource that is gone are
// those to its successor. The result is in a valid order; an error explains why there is none, or which rule of [Verify] it breaks. s is not changed.
func ReplaceSubtree(s *Snapshot, prior, next []*Resource, successors Succession) (*Snapshot, error) {
	if len(prior) == 0 {
		return nil, errors.New("no state is replaced")
	}
	gone := make(map[*Resource]bool, len(prior))
	for _, r := range prior {
		gone[r] = true
	}
	left := len(gone)
	out := *s
	out.Resources = make([]*Resource, 0, len(s.Resources)-len(prior)+len(next))
	for _, r := range s.Resources {
		if !gone[r] {
			out.Resources = append(out.Resources, successors.In(r))
			continue
		}
		if left--; left == 0 { // everything that the subtree refers to is before its last entry
			out.Resources = append(out.Resources, next...)
		}
	}
	var err error
	if out.Resources, err = topological(out.Resources); err != nil {
		return nil, err
	}
	if err := VerifyNames(&out); err != nil {
		return nil, err
	}
	return &out, Verify(&out)
}
