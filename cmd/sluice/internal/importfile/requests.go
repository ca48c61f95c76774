package importfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Target is the stack into which a file is imported.
type Target struct {
	Stack, Project string
	Protect        bool // of the imported resources
	// Decrypter decrypts the secrets in the file; nil if it has none.
	Decrypter property.Decrypter
}

// resolver resolves the names of a file to URNs.
type resolver struct {
	file      *File
	target    Target
	resources []Resource // with Name and LogicalName set
	faults    []error

	ambiguous map[string]bool // by the name of a resource; true: several resources have it
	urns      map[string]urn.URN
	names     Names
	used      map[string]bool // the variables in use
}

func (b *resolver) fault(i int, format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf("%v "+format, append([]any{b.describe(i)}, args...)...))
}

// describe names a resource by its fields in the file.
func (b *resolver) describe(i int) string {
	q := b.resources[i]
	text := fmt.Sprintf("resource %d", i)
	switch {
	case q.Name != "":
		text = fmt.Sprintf("resource '%v'", q.Name)
	case q.ID != "":
		text = fmt.Sprintf("resource '%v'", q.ID)
	}
	if q.Type != "" {
		text += fmt.Sprintf(" of type '%v'", q.Type)
	}
	return text
}

// sanity checks each entry on its own.
func (b *resolver) sanity() {
	b.ambiguous = map[string]bool{}
	for i := range b.resources {
		q := &b.resources[i]
		if q.LogicalName == "" {
			q.LogicalName = q.Name
		}
		if q.Name == "" {
			q.Name = q.LogicalName
		}
		if q.Type == "" {
			b.fault(i, "has no type")
		}
		if q.Name == "" {
			b.fault(i, "has no name")
		}
		b.sanityOfKind(i, *q)
		_, taken := b.ambiguous[q.Name]
		b.ambiguous[q.Name] = taken
	}
}

func (b *resolver) sanityOfKind(i int, q Resource) {
	switch {
	case q.Type.IsProvider():
		if q.ID != "" {
			b.fault(i, "has an ID, but is a provider, which is created rather than read")
		}
		if q.Component {
			b.fault(i, "is a provider and may not be marked as a component")
		}
		if isGiven(q.Outputs) {
			b.fault(i, "is a provider and may not have outputs")
		}
	case !q.Component && q.ID == "":
		b.fault(i, "has no ID")
	case !q.Component && q.ID == Placeholder:
		b.fault(i, "still has the ID %s; write that of the object there", Placeholder)
	case q.Component && q.ID != "":
		b.fault(i, "has an ID, but is marked as a component")
	}
	if q.Remote && !q.Component {
		b.fault(i, "is marked as remote, but not as a component")
	}
}

func (b *resolver) nameTable() {
	for _, name := range slices.Sorted(maps.Keys(b.file.NameTable)) {
		u := b.file.NameTable[name]
		if !u.IsValid() {
			b.faults = append(b.faults, fmt.Errorf("'%v' in 'nameTable' stands for %q, which is not a URN", name, u))
			continue
		}
		b.urns[name], b.names[u], b.used[name] = u, name, true
	}
}

// resolve computes the URNs of the resources, parents before their children.
func (b *resolver) resolve() {
	open := make([]int, len(b.resources))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		var waiting []int
		for _, i := range open {
			parent, ok := b.parentOf(i)
			if !ok {
				waiting = append(waiting, i)
				continue
			}
			b.setParent(i, parent)
		}
		if len(b.faults) > 0 {
			return
		}
		if len(waiting) == len(open) {
			b.fault(open[0], "is an ancestor of itself")
			return
		}
		open = waiting
	}
}

// parentOf returns the URN of a resource's parent, and reports whether it is known yet.
func (b *resolver) parentOf(i int) (urn.URN, bool) {
	name := b.resources[i].Parent
	if name == "" {
		return urn.RootStack(b.target.Stack, b.target.Project), true
	}
	if b.ambiguous[name] {
		b.fault(i, "has an ambiguous parent")
		return "", true
	}
	if u, ok := b.urns[name]; ok {
		return u, true
	}
	if _, ok := b.ambiguous[name]; ok {
		return "", false
	}
	b.faults = append(b.faults, fmt.Errorf("the parent '%v' for %v has no entry in 'nameTable'", name, b.describe(i)))
	return "", true
}

func (b *resolver) setParent(i int, parent urn.URN) {
	q := b.resources[i]
	if parent == "" {
		return // reported
	}
	u := parent.Child(q.Type, q.LogicalName)
	if _, ok := b.names[u]; ok {
		b.fault(i, "has an ambiguous URN, set name (or logical name) to be unique")
	}
	if _, tabled := b.file.NameTable[q.Name]; !tabled {
		b.urns[q.Name] = u
	}
	b.names[u] = b.variable(q)
}

// variable returns an unused variable for the resource.
func (b *resolver) variable(q Resource) string {
	name := q.Name
	if b.used[name] {
		name = unusedName(name, q.Type, func(name string) bool {
			_, listed := b.ambiguous[name]
			return listed || b.used[name]
		})
	}
	b.used[name] = true
	return name
}

// request returns the import request of one resource.
func (b *resolver) request(ctx context.Context, i int) stages.ImportRequest {
	q := b.resources[i]
	r := stages.ImportRequest{
		Type: q.Type, Name: q.LogicalName, ID: q.ID, Properties: q.Properties, Component: q.Component, Remote: q.Remote,
		Protect: b.target.Protect,
	}
	if q.Parent != "" {
		r.Parent, _ = b.parentOf(i)
	}
	inputs := q.Inputs
	if q.Type.IsProvider() && !isGiven(inputs) {
		inputs = b.file.ProviderInputs[q.Name]
	}
	r.Inputs = b.properties(ctx, i, "inputs", inputs)
	r.Outputs = b.properties(ctx, i, "outputs", q.Outputs)
	if q.Provider != "" {
		r.Provider = b.provider(i)
		r.ProviderInputs = b.properties(ctx, i, "providerInputs", b.file.ProviderInputs[q.Provider])
	}
	r.Package = b.plugin(i)
	return r
}

func (b *resolver) provider(i int) urn.URN {
	name := b.resources[i].Provider
	u, ok := b.urns[name]
	switch {
	case b.ambiguous[name]:
		b.fault(i, "has an ambiguous provider")
	case !ok:
		b.faults = append(b.faults, fmt.Errorf("the provider '%v' for %v has no entry in 'nameTable' or 'resources'", name, b.describe(i)))
	case !u.Type().IsProvider():
		b.faults = append(b.faults, fmt.Errorf("the provider '%v' for %v is not a provider", name, b.describe(i)))
	}
	return u
}

// plugin returns the plugin that serves the package of a resource.
func (b *resolver) plugin(i int) stages.Package {
	q := b.resources[i]
	p := stages.Package{Version: b.version(i, "version", q.Version), DownloadURL: q.PluginDownloadURL}
	if x := q.Extension; x != nil {
		p.Extension = &stages.Parameterization{Name: x.Name, Version: x.Version, Value: x.Value}
	}
	x := q.Parameterization
	if x == nil {
		return p
	}
	if q.Extension != nil {
		b.fault(i, "has both a parameterization and an extension, which are mutually exclusive")
	}
	if p.Version == "" {
		b.fault(i, "has a parameterization, but no version, which is that of the parameterized package")
	}
	pkg := q.Type.Package()
	if q.Type.IsProvider() {
		pkg = q.Type.ProviderPackage()
	}
	p.Parameterization = &stages.Parameterization{Name: pkg, Version: p.Version, Value: x.Value}
	p.Name, p.Version = x.PluginName, b.version(i, "parameterization version", x.PluginVersion)
	return p
}

func (b *resolver) version(i int, what, text string) string {
	if text == "" {
		return ""
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		b.faults = append(b.faults, fmt.Errorf("could not parse %s '%v' for %v: %w", what, text, b.describe(i), err))
		return ""
	}
	return v.String()
}

// properties decodes properties in the form of state files.
func (b *resolver) properties(ctx context.Context, i int, what string, text json.RawMessage) property.Map {
	if !isGiven(text) {
		return property.Map{}
	}
	m, err := property.DecodeState(ctx, text, property.StateDecodeOptions{Decrypter: b.target.Decrypter})
	if err != nil {
		b.faults = append(b.faults, fmt.Errorf("the %s for %v: %w", what, b.describe(i), err))
		return property.Map{}
	}
	if m.HasUnknowns() {
		b.faults = append(b.faults, fmt.Errorf("the %v for %v contain unknown values; fill them in before importing", what, b.describe(i)))
	}
	return m
}

func isGiven(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && !bytes.Equal(text, []byte("null"))
}

// Names are the variables of resources in generated code.
type Names map[urn.URN]string

// nameOfType returns the last part of a type with a capital first letter. It is appended to a name that is taken.
func nameOfType(t urn.Type) string {
	name := string(t)
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == ':' {
			name = name[i+1:]
			break
		}
	}
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return name
	}
	return string(unicode.ToUpper(first)) + name[size:]
}

// unusedName returns name with its type appended and, if that is taken too, a number (protocol.md 10.9).
func unusedName(name string, t urn.Type, isTaken func(string) bool) string {
	base := name + nameOfType(t)
	unused := base
	for i := 2; isTaken(unused); i++ {
		unused = fmt.Sprintf("%s%d", base, i)
	}
	return unused
}
