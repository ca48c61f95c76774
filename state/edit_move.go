package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// MoveOptions define which resources move along, and the destination.
type MoveOptions struct {
	Parents        bool   // also move the ancestors of moved resources, with all their children
	Stack, Project string // of the destination
}

// Movement is the result of a move between two states ([state.md 7.10]). The two original snapshots are not changed.
//
// [state.md 7.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#710-state
type Movement struct {
	Source, Dest *Snapshot
	Moved        []Moved            // the entries that leave the source, in its order
	Providers    []Moved            // the providers that are copied for them
	Left         []DroppedReference // references of remaining entries to moved ones
	Lost         []DroppedReference // references of moved entries to remaining ones
	Dropped      []Pending          // pending operations of both states: a move does not keep them
}

// Moved is one entry before and after. Existing is true if the destination had it already: a provider that fits, or a
// resource that an interrupted move has left in both states.
type Moved struct {
	From, To *Resource
	Existing bool
}

// Move moves resources, which are entries of source, into dest, which may be nil. Children and views move with them. Providers are copied, unless
// dest has the same or an equal one; children of a copied provider stay its children. A resource that is moved without its parent becomes a child of
// the destination's stack resource, which is made if there is none. URNs get the destination's stack and project. References between the two states
// and pending operations are dropped.
//
// The secrets of both snapshots must be open. Errors are a [*NameTakenError] or name the resource that cannot be moved.
func Move(ctx context.Context, source, dest *Snapshot, resources []*Resource, o MoveOptions) (*Movement, error) {
	m := &mover{ctx: ctx, options: o, source: source, dest: dest, out: &Movement{}, moving: map[urn.URN]bool{}, orphans: map[urn.URN]bool{},
		above: map[urn.URN]bool{},
		names: renames{}, providers: map[string]string{}}
	if m.dest == nil {
		m.dest = &Snapshot{}
	}
	steps := []func() error{
		func() error { return m.choose(resources) }, m.openDest, m.copyProviders, m.take, m.leave, m.carryExtensions, m.finish,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

// mover is the state of one move.
type mover struct {
	ctx          context.Context
	options      MoveOptions
	source, dest *Snapshot
	out          *Movement

	moving    map[urn.URN]bool   // by their names in the source
	orphans   map[urn.URN]bool   // providers whose parents move
	above     map[urn.URN]bool   // providers that are ancestors of moved entries, and are copied with them
	entries   []*Resource        // of the destination after the move
	root      urn.URN            // the destination's stack resource
	names     renames            // of the moved and copied entries
	providers map[string]string  // references in the source to references in the destination
	copied    map[*Resource]bool // provider entries of the source
}

// choose adds children and views to the set of moved entries.
func (m *mover) choose(resources []*Resource) error {
	byURN := make(map[urn.URN]*Resource, len(m.source.Resources))
	for _, r := range m.source.Resources {
		byURN[r.URN] = r
	}
	for _, r := range resources {
		if r.Type.IsProvider() {
			return fmt.Errorf("%s is a provider, which cannot be moved: providers are copied along with the resources that use them", r.URN)
		}
		m.moving[r.URN] = true
		for p := byURN[r.Parent]; m.options.Parents && p != nil && !p.URN.IsRootStack(); p = byURN[p.Parent] {
			if p.Type.IsProvider() {
				m.above[p.URN] = true
			} else {
				m.moving[p.URN] = true
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, r := range m.source.Resources {
			switch {
			case m.moving[r.URN] || m.orphans[r.URN] || !m.moving[r.Parent] && !m.orphans[r.Parent] && !m.moving[r.ViewOf]:
			case r.Type.IsProvider():
				m.orphans[r.URN], grown = true, true
			default:
				m.moving[r.URN], grown = true, true
			}
		}
	}
	for u := range m.moving {
		if u.IsRootStack() {
			delete(m.moving, u) // it was only named to select its children
		}
	}
	for _, r := range m.source.Resources {
		if m.orphans[r.URN] && !m.moving[r.Parent] && !m.orphans[r.Parent] {
			delete(m.orphans, r.URN)
		}
	}
	for _, r := range m.source.Resources {
		switch {
		case !m.moving[r.URN]:
		case r.ViewOf != "" && !m.moving[r.ViewOf]:
			return fmt.Errorf("%s is a part of %s; move that", r.URN, r.ViewOf)
		case r.SnippetID != "":
			return fmt.Errorf("%s was made by a snippet, which cannot be moved", r.URN)
		}
	}
	if len(m.moving) == 0 {
		return fmt.Errorf("there is nothing to move")
	}
	return nil
}

// openDest finds the destination's stack resource, or makes it.
func (m *mover) openDest() error {
	m.entries = slices.Clone(m.dest.Resources)
	for _, r := range m.dest.Resources {
		if r.Type == urn.RootStackType && r.Parent == "" {
			m.root = r.URN
			return nil
		}
	}
	m.root = urn.RootStack(m.options.Stack, m.options.Project)
	m.entries = append([]*Resource{{URN: m.root, Type: urn.RootStackType}}, m.entries...)
	return nil
}

// rename gives u its name in the destination, where the URN of its parent is parent.
func (m *mover) rename(u, parent urn.URN) urn.URN {
	return u.WithStack(m.options.Stack).WithProject(m.options.Project).Under(parent)
}

// parentOf is the parent that r has in the destination.
func (m *mover) parentOf(r *Resource) urn.URN {
	if m.moving[r.Parent] || m.comesAlong(r.Parent) {
		return m.names.of(r.Parent)
	}
	return m.root
}

// comesAlong reports whether a provider keeps the children that are moved: its copy is their parent.
func (m *mover) comesAlong(u urn.URN) bool { return m.above[u] || m.orphans[u] }

// copyProviders names all moved and copied entries, and adds the providers.
func (m *mover) copyProviders() error {
	used := map[string]bool{}
	for _, r := range m.source.Resources {
		if m.moving[r.URN] && r.Provider != "" {
			used[canonicalRef(r.Provider)] = true
		}
	}
	m.copied = map[*Resource]bool{}
	parents := map[urn.URN]bool{} // of moved or copied entries
	for _, r := range slices.Backward(m.source.Resources) {
		if r.Type.IsProvider() && (used[ProviderRefOf(r)] || !r.Delete && parents[r.URN] && m.comesAlong(r.URN)) {
			m.copied[r] = true
		}
		if m.moving[r.URN] || m.copied[r] {
			parents[r.Parent] = true
		}
	}
	for _, r := range m.source.Resources {
		if m.moving[r.URN] || m.copied[r] {
			m.names[r.URN] = m.rename(r.URN, m.parentOf(r))
		}
	}
	for _, r := range m.source.Resources {
		if !m.copied[r] {
			continue
		}
		to := m.translate(r)
		entry, existing, err := m.fit(to)
		if err != nil {
			return err
		}
		m.providers[ProviderRefOf(r)] = ProviderRefOf(entry)
		m.out.Providers = append(m.out.Providers, Moved{r, entry, existing})
		if !existing {
			m.entries = append(m.entries, entry)
		}
	}
	return nil
}

// fit returns the destination's provider that can replace p, or p itself.
func (m *mover) fit(p *Resource) (entry *Resource, existing bool, err error) {
	for _, d := range m.dest.Resources {
		if d.URN == p.URN && d.ID == p.ID {
			return d, true, nil
		}
	}
	for _, d := range m.dest.Resources {
		if d.URN != p.URN || d.Delete || p.Delete {
			continue
		}
		if !property.EqualMaps(d.Inputs, p.Inputs) {
			return nil, false, advice.Errorf(advice.On(advice.RenameResource, p.URN),
				"the destination has a provider %s with another configuration", p.URN)
		}
		return d, true, nil
	}
	return p, false, nil
}

// take adds the moved entries to the destination.
func (m *mover) take() error {
	for _, r := range m.source.Resources {
		if !m.moving[r.URN] {
			continue
		}
		to := m.translate(r)
		existing, err := m.arrived(to)
		if err != nil {
			return err
		}
		m.out.Moved = append(m.out.Moved, Moved{r, to, existing})
		if !existing {
			m.entries = append(m.entries, to)
		}
	}
	return nil
}

// translate returns r in the form of the destination, and records the references that it loses.
func (m *mover) translate(r *Resource) *Resource {
	out, cuts := dropReferences(r, func(u urn.URN) bool { _, ok := m.names[u]; return !ok })
	m.out.Lost = append(m.out.Lost, cuts...)
	parent, ref := m.parentOf(r), r.Provider
	out = m.names.throughout(out).Clone()
	out.Parent = parent
	if ref != "" {
		if now, ok := m.providers[canonicalRef(ref)]; ok {
			out.Provider = now
		} else if p, err := urn.ParseProviderRef(ref); err == nil { // its provider is not recorded
			p.URN = p.URN.WithStack(m.options.Stack).WithProject(m.options.Project)
			out.Provider = p.String()
		}
	}
	return out
}

// arrived reports whether the destination has exactly this entry already.
func (m *mover) arrived(to *Resource) (bool, error) {
	for _, d := range m.dest.Resources {
		switch {
		case d.URN != to.URN:
		case m.same(d, to):
			return true, nil
		case !d.Delete && !to.Delete:
			return false, &NameTakenError{URN: to.URN, Dest: true}
		}
	}
	return false, nil
}

// same reports whether two entries are equal in everything that is recorded. The texts stay in memory.
func (m *mover) same(a, b *Resource) bool {
	e := NewEncoder(EncoderOptions{Plaintext: true})
	x, err := e.resource(m.ctx, a)
	if err != nil {
		return false
	}
	y, err := e.resource(m.ctx, b)
	return err == nil && bytes.Equal(x, y)
}

// leave computes the remaining entries of the source, without references to moved ones. A provider whose parent has
// moved remains only if something uses it; then it becomes a resource of the stack.
func (m *mover) leave() error {
	var root urn.URN
	inUse := map[urn.URN]bool{}
	for _, r := range m.source.Resources {
		if r.URN.IsRootStack() && !r.Delete {
			root = r.URN
		}
		if ref, err := urn.ParseProviderRef(r.Provider); err == nil && !m.moving[r.URN] {
			inUse[ref.URN] = true
		}
	}
	gone := func(u urn.URN) bool { return m.moving[u] || m.orphans[u] && !inUse[u] }
	out := *m.source
	out.Resources = nil
	rooted := renames{}
	for _, r := range m.source.Resources {
		if gone(r.URN) {
			continue
		}
		stays, cuts := dropReferences(r, gone)
		m.out.Left = append(m.out.Left, cuts...)
		if m.orphans[r.URN] {
			stays = stays.Clone()
			stays.Parent = root
			rooted[r.URN] = r.URN.Under(root)
		}
		out.Resources = append(out.Resources, stays)
	}
	if len(rooted) > 0 {
		for i, r := range out.Resources {
			out.Resources[i] = rooted.throughout(r)
		}
	}
	m.out.Source = &out
	return nil
}

// carryExtensions keeps in each state the extensions that it uses (state.md 1.10).
func (m *mover) carryExtensions() error {
	dest := *m.dest
	dest.Resources = m.entries
	m.out.Dest = &dest
	for _, moved := range m.out.Moved {
		ref := moved.From.ExtensionRef
		if _, ok := m.source.Extensions[ref]; ref != "" && !ok {
			return fmt.Errorf("%s uses the extension %s, which the state does not have", moved.From.URN, ref)
		}
	}
	dest.Extensions = extensionsOf(dest.Resources, m.dest.Extensions, m.source.Extensions)
	m.out.Source.Extensions = extensionsOf(m.out.Source.Resources, m.source.Extensions)
	return nil
}

func extensionsOf(rs []*Resource, from ...map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for _, r := range rs {
		for _, known := range from {
			raw, ok := known[r.ExtensionRef]
			if !ok || r.ExtensionRef == "" {
				continue
			}
			if out == nil {
				out = map[string]json.RawMessage{}
			}
			out[r.ExtensionRef] = raw
			break
		}
	}
	return out
}

// finish brings both states into order and checks them.
func (m *mover) finish() error {
	m.out.Dropped = slices.Concat(m.dest.Pending, m.source.Pending)
	m.out.Dest.Pending, m.out.Source.Pending = nil, nil
	for _, s := range []struct {
		name        string
		before, now *Snapshot
	}{{"destination", m.dest, m.out.Dest}, {"source", m.source, m.out.Source}} {
		err := restoreOrder(s.before, s.now)
		if err == nil {
			err = VerifyNames(s.now)
		}
		if err != nil {
			return fmt.Errorf("the state of the %s would be invalid: %w", s.name, err)
		}
	}
	return nil
}
