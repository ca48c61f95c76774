package state

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

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
