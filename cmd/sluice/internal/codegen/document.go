package codegen

import (
	"slices"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// document is a program in no language yet.
type document struct {
	resources []*declaration // each after what it mentions
	// settings are the keys of the configuration that hold secrets, in the order of their first use.
	settings []string
}

// noteUse notes which declarations others mention.
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
