package codegen

import (
	"fmt"
)

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

// Supports reports whether declarations can be written for programs of a runtime.
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

// newDocument decides on everything that is the same in all languages.
func newDocument(p Program, l language) *document {
	b := &builder{program: p, variables: variablesOf(p, l.reserved, l.identifiers)}
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
