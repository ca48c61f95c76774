package codegen

import "fmt"

// languages are the writers, by the runtime of the project.
var languages = map[string]language{
	"yaml":   {write: writeYAML, naming: naming{reserved: []string{"pulumi"}}},
	"nodejs": {write: writeNode, naming: naming{reserved: nodeReserved, identifiers: true}},
	"go":     {write: writeGo, naming: naming{reserved: goReserved, identifiers: true}},
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

// Generate writes the declarations for programs of a runtime.
func Generate(runtime string, p Program) ([]byte, error) {
	l, ok := languages[runtime]
	if !ok {
		return nil, fmt.Errorf("there are no declarations for the runtime %q", runtime)
	}
	return l.write(newDocument(p, l.naming))
}
