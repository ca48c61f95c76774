package codegen

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Program describes what to declare.
type Program struct {
	// Resources are recorded states, in the order in which the user named them.
	Resources []*state.Resource
	// Names are the variables of resources, including those that the program declares already. A name that the
	// language does not allow is changed.
	Names map[urn.URN]string
	// Schemas are the schemas of the packages, by the reference of the provider that returned them; one may be nil.
	Schemas map[string]*Schema
	// ShowSecrets writes secret values in plain text. Otherwise the program reads them from its configuration.
	ShowSecrets bool
}

// languages are the writers, by the runtime of the project.
var languages = map[string]language{
	"yaml":   {write: writeYAML, naming: naming{reserved: []string{"pulumi"}, spell: words}},
	"nodejs": {write: writeNode, naming: naming{reserved: nodeReserved, spell: identifier, packageNames: importNames}},
	"go":     {write: writeGo, naming: naming{reserved: goReserved, spell: identifier, packageNames: importNames}},
	"python": {write: writePython, naming: naming{reserved: pythonReserved, spell: pythonVariable, packageNames: pythonImportNames}},
	"java":   {write: writeJava, naming: naming{reserved: javaReserved, spell: javaVariable}},
}

type language struct {
	write  func(*document) ([]byte, error)
	naming naming
}

// Supports reports whether declarations can be written for programs of a runtime.
func Supports(runtime string) bool {
	_, ok := languages[runtime]
	return ok
}

// Runtimes returns the runtimes for whose programs declarations can be written, in ascending order.
func Runtimes() []string { return slices.Sorted(maps.Keys(languages)) }

// Generate writes the declarations for programs of a runtime.
func Generate(runtime string, p Program) ([]byte, error) {
	l, ok := languages[runtime]
	if !ok {
		return nil, fmt.Errorf("there are no declarations for the runtime %q", runtime)
	}
	return l.write(newDocument(p, l.naming))
}
