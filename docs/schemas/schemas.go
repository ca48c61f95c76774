// Package schemas has the JSON schemas of what sluice writes for programs and of YAML programs, as `sluice schema` prints them.
//
// All but that of programs are generated from the Go types of the documents; a test of the command line fails if they are not current, and
// writes them with -update. Each has its version in its $id. This package checks nothing.
//
// Invariant: a document of the version that a schema names is valid, also if a later sluice has added something to it.
package schemas

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names returns the names of the schemas, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // the folder is part of this package
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(out)
	return out
}

// Text returns a schema, and reports whether there is one of this name.
func Text(name string) (text []byte, found bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	text, err := files.ReadFile(name + ".json")
	return text, err == nil
}
