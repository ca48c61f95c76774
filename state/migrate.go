package state

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Migrate brings a base written by an old engine up to date ([steps.md 2.7], [state.md 3.6]). Custom resources without a
// provider get the default provider of their package. It is put before everything else, with the result of
// defaultInputs for the package and with the version that the manifest names. Providers with inputs but no outputs get
// outputs.
//
// newID gives the IDs of new providers. It returns base itself and false when there is nothing to do; otherwise the
// caller records the new base (see [Recorder].Rebase) before anything else happens.
//
// [state.md 3.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#36-migration
// [steps.md 2.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#27-loading-the-base
func Migrate(base *Snapshot, defaultInputs func(pkg string) property.Map, newID func() string) (*Snapshot, bool) {
	if base == nil {
		return nil, false
	}
	m := migration{base: base, defaultInputs: defaultInputs, newID: newID, refs: map[string]string{}}
	out := make([]*Resource, len(base.Resources))
	changed := false
	for i, r := range base.Resources {
		out[i] = m.migrate(r)
		changed = changed || out[i] != r
	}
	if !changed {
		return base, false
	}
	s := *base
	s.Resources, _ = topological(append(m.added, out...)) // a provider of the base may have to move forward
	return &s, true
}

type migration struct {
	base          *Snapshot
	defaultInputs func(string) property.Map
	newID         func() string
	added         []*Resource
	refs          map[string]string // package to the reference of its default provider
}

func (m *migration) migrate(r *Resource) *Resource {
	switch {
	case r.Type.IsProvider() && r.Inputs.Len() > 0 && r.Outputs.Len() == 0:
		c := r.Clone()
		c.Outputs = r.Inputs.Without("__internal")
		return c
	case r.Custom && !r.Type.IsProvider() && r.Provider == "":
		c := r.Clone()
		c.Provider = m.provider(r)
		return c
	}
	return r
}

// provider returns the reference of the default provider for r, and makes that provider if there is none.
func (m *migration) provider(r *Resource) string {
	pkg := r.Type.Package()
	if ref, ok := m.refs[pkg]; ok {
		return ref
	}
	u := urn.New(r.URN.Stack(), r.URN.Project(), "", urn.ProviderType(pkg), "default")
	at := slices.IndexFunc(m.base.Resources, func(p *Resource) bool { return p.URN == u && !p.Delete && p.ID != "" })
	if at >= 0 {
		m.refs[pkg] = ProviderRefOf(m.base.Resources[at])
		return m.refs[pkg]
	}
	inputs := m.defaultInputs(pkg)
	if v := m.version(pkg); v != "" {
		inputs = inputs.With("version", property.String(v)).With("__internal", property.Of(property.Map{}))
	}
	p := &Resource{
		URN: u, Custom: true, ID: m.newID(), Type: urn.ProviderType(pkg),
		Inputs: inputs, Outputs: inputs.Without("__internal"),
	}
	m.added = append(m.added, p)
	m.refs[pkg] = ProviderRefOf(p)
	return m.refs[pkg]
}

// version returns the version of the plugin in the manifest, the last one if there are several.
func (m *migration) version(pkg string) string {
	v := ""
	for _, p := range m.base.Manifest.Plugins {
		if p.Name == pkg && (p.Type == "" || p.Type == "resource") {
			v = p.Version
		}
	}
	return v
}
