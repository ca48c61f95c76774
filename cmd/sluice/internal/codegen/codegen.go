package codegen

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/urn"
)

// Program is what is to be declared.
type Program struct {
	// Resources are recorded states, in the order in which people named them.
	Resources []*sluice.Resource
	// Names are the variables of resources, also of those that the program declares already. A name that the language
	// does not allow is changed.
	Names map[urn.URN]string
	// Schemas are those of the packages, by the reference of the provider that was asked; one may be nil.
	Schemas map[string]*Schema
	// ShowSecrets writes secret values out. Otherwise the program reads them from its configuration.
	ShowSecrets bool
}

// languages are the writers, by the runtime of the project.
var languages = map[string]language{
	"yaml":   {write: writeYAML, reserved: []string{"pulumi"}},
	"nodejs": {write: writeNode, reserved: nodeReserved, identifiers: true},
	"go":     {write: writeGo, reserved: goReserved, identifiers: true},
}

type language struct {
	write       func(*document) ([]byte, error)
	reserved    []string
	identifiers bool // variables must be identifiers
}

// Supports tells whether declarations can be written for programs of a runtime.
func Supports(runtime string) bool {
	_, ok := languages[runtime]
	return ok
}

// Generate writes the declarations for programs of a runtime.
func Generate(runtime string, p Program) ([]byte, error) {
	l, ok := languages[runtime]
	if !ok {
		return nil, fmt.Errorf("there are no declarations for the runtime %q", runtime)
	}
	return l.write(newDocument(p, l))
}

// document is a program in no language yet.
type document struct {
	resources []*declaration // each after what it mentions
	// settings are the keys of the configuration that hold secrets, in the order of their first use.
	settings []string
}

// declaration is one resource.
type declaration struct {
	state    *sluice.Resource
	variable string
	pkg      *Schema // never nil
	token    urn.Type
	// isLocal is true for a component that no package has.
	isLocal    bool
	properties []field
	parent     string // variables
	provider   string
	mentions   []string // variables that the properties refer to
	isUsed     bool     // some other declaration mentions it
	notes      []string // comments before it
}

// name is what the resource is called in the stack.
func (d *declaration) name() string { return d.state.URN.Name() }

// newDocument decides on everything that is the same in all languages.
func newDocument(p Program, l language) *document {
	b := &builder{program: p, variables: variablesOf(p, l)}
	b.findIDs()
	doc := b.build()
	sorted, ok := sortDeclarations(doc.resources)
	if !ok {
		// Two resources have each other's ID among their inputs: literals say the same.
		b.ids = nil
		doc = b.build()
		sorted, _ = sortDeclarations(doc.resources)
	}
	doc.resources = sorted
	used := map[string]bool{}
	for _, d := range doc.resources {
		for _, name := range d.dependencies() {
			used[name] = true
		}
	}
	for _, d := range doc.resources {
		d.isUsed = used[d.variable]
	}
	return doc
}

// dependencies are the variables that must be declared before.
func (d *declaration) dependencies() []string {
	out := slices.Clone(d.mentions)
	for _, name := range []string{d.parent, d.provider} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// sortDeclarations puts each declaration after those that it depends on and keeps their order otherwise. It returns false
// when that is impossible.
func sortDeclarations(ds []*declaration) (sorted []*declaration, ok bool) {
	byVariable := map[string]*declaration{}
	for _, d := range ds {
		byVariable[d.variable] = d
	}
	ok = true
	const open, done = 1, 2
	marks := map[*declaration]int{}
	var visit func(*declaration)
	visit = func(d *declaration) {
		switch marks[d] {
		case open:
			ok = false
			return
		case done:
			return
		}
		marks[d] = open
		for _, name := range d.dependencies() {
			if to := byVariable[name]; to != nil {
				visit(to)
			}
		}
		marks[d] = done
		sorted = append(sorted, d)
	}
	for _, d := range ds {
		visit(d)
	}
	return sorted, ok
}
