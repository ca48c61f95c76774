package codegen

import (
	"slices"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// document is a program, independent of the language.
type document struct {
	resources []*declaration // each after those that it mentions
	// settings are the keys of the configuration that hold secrets, in the order of their first use.
	settings []string
}

// noteUse records which declarations other declarations mention.
func (doc *document) noteUse() {
	used := map[string]bool{}
	for _, d := range doc.resources {
		for _, name := range d.dependencies() {
			used[name] = true
		}
	}
	for _, d := range doc.resources {
		d.isUsed = used[d.variable]
	}
}

// declaration is one resource.
type declaration struct {
	state    *state.Resource
	variable string
	pkg      *Schema // never nil
	token    urn.Type
	// isLocal is true for a component whose type is not part of a package.
	isLocal    bool
	properties []field
	parent     string // variables
	provider   string
	mentions   []string // variables that the properties refer to
	isUsed     bool     // another declaration mentions it
	notes      []string // comments before it
}

// name returns the name of the resource in the stack.
func (d *declaration) name() string { return d.state.URN.Name() }

// dependencies returns the variables that must be declared before.
func (d *declaration) dependencies() []string {
	out := slices.Clone(d.mentions)
	for _, name := range []string{d.parent, d.provider} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// sortDeclarations moves each declaration after those that it depends on, and otherwise keeps their order. ok is false
// if that is impossible.
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
