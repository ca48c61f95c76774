package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// AliasConflictError reports that two resources claim the same old URN ([steps.md 2.6]).
//
// [steps.md 2.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#26-names-when-the-state-is-written
type AliasConflictError struct {
	Alias         urn.URN
	First, Second urn.URN // in ascending order
}

func (e *AliasConflictError) Error() string {
	return fmt.Sprintf("two resources (%s and %s) are aliased to the same %s; remove the alias from one of them",
		e.First, e.Second, e.Alias)
}

// renames maps old URNs to new ones: one lookup, not transitive.
type renames map[urn.URN]urn.URN

func (m renames) of(u urn.URN) urn.URN {
	if v, ok := m[u]; ok {
		return v
	}
	return u
}

// collectRenames computes the renames that the aliases of rs cause (state.md 3.5). Aliased resources are renamed, and
// so are children that were not registered again, whose qualified types begin with their parent's. An alias of a
// resource takes precedence over the name that its parent would give it. A child whose new name is taken keeps its
// present name: two live entries with one name would not be a valid state (decision 0020). The result depends on the
// set of resources, not on their order.
func collectRenames(rs []*Resource) (renames, error) {
	if !slices.ContainsFunc(rs, func(r *Resource) bool { return len(r.Aliases) > 0 }) {
		return nil, nil
	}
	m, err := claims(rs)
	if err != nil {
		return nil, err
	}
	byURN := make(map[urn.URN]*Resource, len(rs))
	for _, r := range rs {
		if known, ok := byURN[r.URN]; !ok || known.Delete && !r.Delete {
			byURN[r.URN] = r
		}
	}
	keep := map[urn.URN]bool{}
	for {
		d := derivation{claimed: m, byURN: byURN, keep: keep, done: make(renames, len(rs))}
		out := make(renames, len(m))
		for u := range byURN {
			if now := d.of(u); now != u {
				out[u] = now
			}
		}
		if !d.keepTaken(out) {
			for a, u := range m {
				out[a] = u
			}
			return out, nil
		}
	}
}

// claims collects the aliases. Of several conflicts it reports the one with the smallest alias.
func claims(rs []*Resource) (renames, error) {
	m := renames{}
	var conflict *AliasConflictError
	for _, r := range rs {
		for _, a := range r.Aliases {
			other, ok := m[a]
			if ok && other != r.URN && (conflict == nil || a <= conflict.Alias) {
				conflict = &AliasConflictError{Alias: a, First: min(other, r.URN), Second: max(other, r.URN)}
			}
			if !ok || r.URN < other {
				m[a] = r.URN
			}
		}
	}
	if conflict != nil {
		return nil, conflict
	}
	return m, nil
}

// derivation finds the new names of children.
type derivation struct {
	claimed renames
	byURN   map[urn.URN]*Resource
	keep    map[urn.URN]bool // children whose new names are taken
	done    renames
}

// keepTaken finds children whose new names belong to other live entries, and lets them keep their present names. If
// several would get the same name, the first by its old name gets it. It reports whether it found any.
func (d *derivation) keepTaken(out renames) (found bool) {
	owners := make(map[urn.URN]urn.URN, len(out)) // new name -> old name
	isDerived := func(old urn.URN) bool { return out.of(old) != old && !has(d.claimed, old) }
	for _, old := range slices.Sorted(maps.Keys(d.byURN)) {
		if d.byURN[old].Delete {
			continue
		}
		now := out.of(old)
		other, taken := owners[now]
		switch {
		case !taken:
			owners[now] = old
		case isDerived(old):
			d.keep[old], found = true, true
		case isDerived(other):
			d.keep[other], found = true, true
			owners[now] = old
		}
	}
	return found
}

func (d *derivation) of(u urn.URN) urn.URN {
	if v, ok := d.claimed[u]; ok {
		return v
	}
	if v, ok := d.done[u]; ok {
		return v
	}
	d.done[u] = u // ends a cycle of parents
	r, ok := d.byURN[u]
	if !ok || r.Parent == "" || d.keep[u] {
		return u
	}
	if parent := d.of(r.Parent); parent != r.Parent && !parent.IsRootStack() {
		d.done[u] = u.Under(parent)
	}
	return d.done[u]
}

// normalise returns r as it is written: with all its URNs renamed and without aliases.
func (m renames) normalise(r *Resource) *Resource {
	out := r
	if len(m) > 0 {
		out = mapReferences(r, func(_ referenceKind, u urn.URN) urn.URN { return m.of(u) })
	}
	if out.Aliases == nil {
		return out
	}
	if out == r {
		out = r.Clone()
	}
	out.Aliases = nil
	return out
}

// references returns r with the URNs in its references renamed. Its own name stays.
func (m renames) references(r *Resource) *Resource {
	if len(m) == 0 {
		return r
	}
	return mapReferences(r, func(k referenceKind, u urn.URN) urn.URN {
		if k == refSelf {
			return u
		}
		return m.of(u)
	})
}

// snippet has the fields of a snippet in the order in which they are written (state.md 1.10).
type snippet struct {
	UUID       json.RawMessage    `json:"uuid,omitempty"`
	Name       json.RawMessage    `json:"name,omitempty"`
	Type       json.RawMessage    `json:"type,omitempty"`
	Code       json.RawMessage    `json:"code,omitempty"`
	Descriptor json.RawMessage    `json:"descriptor,omitempty"`
	References map[string]urn.URN `json:"references,omitempty"`
}

// snippets returns the list with its references renamed; a snippet that mentions no renamed URN keeps its bytes.
func (m renames) snippets(raws []json.RawMessage) ([]json.RawMessage, error) {
	if len(m) == 0 || len(raws) == 0 {
		return raws, nil
	}
	out := slices.Clone(raws)
	for i, raw := range raws {
		var s snippet
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("snippet at index %d: %w", i, err)
		}
		changed := false
		for ident, u := range s.References {
			if v := m.of(u); v != u {
				s.References[ident], changed = v, true
			}
		}
		if !changed {
			continue
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			return nil, fmt.Errorf("snippet at index %d: %w", i, err)
		}
		out[i] = json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
	}
	return out, nil
}

// everywhere returns s with all its URNs renamed.
func (m renames) everywhere(s *Snapshot) (*Snapshot, error) {
	out := *s
	out.Resources = make([]*Resource, len(s.Resources))
	for i, r := range s.Resources {
		out.Resources[i] = m.throughout(r)
	}
	out.Pending = slices.Clone(s.Pending)
	for i := range out.Pending {
		out.Pending[i].Resource = m.throughout(out.Pending[i].Resource)
	}
	var err error
	out.Snippets, err = m.snippets(s.Snippets)
	return &out, err
}

// throughout returns r with all its URNs renamed, including those in resource references of its properties. r itself is
// returned if nothing changes.
func (m renames) throughout(r *Resource) *Resource {
	out := mapReferences(r, func(_ referenceKind, u urn.URN) urn.URN { return m.of(u) })
	changed := false
	f := func(ref property.Reference) property.Reference {
		if u, ok := m[ref.URN]; ok {
			changed, ref.URN = true, u
		}
		return ref
	}
	inputs, outputs, trigger := r.Inputs.MapReferences(f), r.Outputs.MapReferences(f), r.ReplacementTrigger.MapReferences(f)
	if !changed {
		return out
	}
	if out == r {
		out = r.Clone()
	}
	out.Inputs, out.Outputs, out.ReplacementTrigger = inputs, outputs, trigger
	return out
}
