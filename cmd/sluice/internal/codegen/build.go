package codegen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// newDocument makes the decisions that are the same for all languages.
func newDocument(p Program, n naming) *document {
	b := &builder{program: p, variables: variablesOf(p, n)}
	b.findIDs()
	doc := b.build()
	sorted, ok := sortDeclarations(doc.resources)
	if !ok {
		// If two resources have each other's ID among their inputs, the IDs are written as literals.
		b.ids = nil
		doc = b.build()
		sorted, _ = sortDeclarations(doc.resources)
	}
	doc.resources = sorted
	doc.noteUse()
	return doc
}

// builder makes declarations from states.
type builder struct {
	program   Program
	variables map[urn.URN]string
	ids       map[string]string // IDs that exactly one of the resources has -> its variable
	keys      map[string]bool   // the keys of settings that are used
	settings  []string
	current   *declaration
}

// shortestID is the length from which a text equal to an ID is taken for a reference: shorter ones are often words.
const shortestID = 4

// findIDs finds the IDs by which resources may refer to each other.
func (b *builder) findIDs() {
	b.ids = map[string]string{}
	for _, r := range b.program.Resources {
		if !r.Custom || len(r.ID) < shortestID || r.Type.IsProvider() {
			continue
		}
		if _, taken := b.ids[r.ID]; taken {
			b.ids[r.ID] = ""
			continue
		}
		b.ids[r.ID] = b.variables[r.URN]
	}
}

func (b *builder) build() *document {
	doc := &document{}
	b.settings, b.keys = nil, map[string]bool{}
	for _, variable := range b.variables {
		b.keys[variable] = true // in YAML they share one namespace
	}
	for _, r := range b.program.Resources {
		doc.resources = append(doc.resources, b.declare(r))
	}
	doc.settings = b.settings
	return doc
}

func (b *builder) declare(r *state.Resource) *declaration {
	d := &declaration{state: r, variable: b.variables[r.URN], token: r.Type, isLocal: !r.Custom && r.Provider == ""}
	b.current = d
	pkg := r.Type.Package()
	if r.Type.IsProvider() {
		pkg = r.Type.ProviderPackage()
	}
	if d.pkg = b.program.Schemas[b.providerRef(r)]; d.pkg == nil {
		d.pkg = Unknown(pkg)
	}
	if p := r.Parent; p != "" && !p.IsRootStack() {
		d.parent = b.mention(p, "parent")
	}
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil && !strings.HasPrefix(ref.URN.Name(), "default") {
		d.provider = b.mention(ref.URN, "provider")
	}
	if d.isLocal {
		return d
	}
	inputs := r.Inputs.WithoutInternal()
	if r.Type.IsProvider() {
		inputs = inputs.Without("version")
	}
	shape := d.pkg.resource(r.Type)
	if shape == nil {
		d.properties = b.untyped(inputs, false, []string{d.variable})
		return d
	}
	d.properties = b.typed(shape, inputs, false, []string{d.variable})
	return d
}

// providerRef returns the reference under which the schema for a resource is stored.
func (b *builder) providerRef(r *state.Resource) string {
	if r.Type.IsProvider() {
		return urn.ProviderRef{URN: r.URN, ID: r.ID}.String()
	}
	return r.Provider
}

// mention returns the variable of another resource. For a resource without a variable it adds a note, so that people
// replace the reference themselves.
func (b *builder) mention(u urn.URN, what string) string {
	if v, ok := b.variables[u]; ok {
		return v
	}
	b.current.notes = append(b.current.notes, fmt.Sprintf("Its %s is %s, which has no name here: add it as an option.", what, u))
	return ""
}

// typed returns the properties of a shape, in the order of the schema. A missing required property gets a placeholder
// that people recognize.
func (b *builder) typed(s *shape, m property.Map, isSecret bool, path []string) []field {
	var out []field
	for _, p := range s.properties {
		v, ok := m.Get(p.name)
		if inner, _ := v.Unwrap(); !ok || inner.IsNull() || inner.IsUnknown() {
			if p.isRequired {
				out = append(out, field{p.name, p, zero(p)})
				b.note("%s is required, but nothing is recorded for it.", place(path, p.name))
			}
			continue
		}
		out = append(out, field{p.name, p, b.value(v, p.typ, isSecret || p.isSecret, append(slices.Clone(path), p.name))})
	}
	for _, name := range m.Names() {
		if _, ok := s.property(name); !ok && !property.IsInternalName(name) {
			b.note("%s is recorded, but the schema does not have it.", place(path, name))
		}
	}
	return out
}

// place formats a location inside a resource.
func place(path []string, more ...string) string {
	return strings.Join(slices.Concat(path[1:], more), ".")
}

func (b *builder) note(format string, args ...any) {
	b.current.notes = append(b.current.notes, fmt.Sprintf(format, args...))
}

func (b *builder) untyped(m property.Map, isSecret bool, path []string) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(m.Mutable())) {
		v := m.At(name)
		if inner, _ := v.Unwrap(); inner.IsNull() || inner.IsUnknown() {
			continue
		}
		out = append(out, field{name: name, value: b.value(v, nil, isSecret, append(slices.Clone(path), name))})
	}
	return out
}
