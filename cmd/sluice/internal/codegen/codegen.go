package codegen

import (
	"fmt"
	"maps"
	"slices"
)

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
