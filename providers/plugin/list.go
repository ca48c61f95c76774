package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Listing is an installed plugin.
type Listing struct {
	Kind     Kind
	Name     string
	Version  string // "" when the place does not contain it
	Location Location
}

// executables lists the plugins among the files of a directory.
func executables(directory string, source Source) []Listing {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	var list []Listing
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), "pulumi-")
		if ending := filepath.Ext(rest); slices.Contains(endings(), ending) {
			rest = strings.TrimSuffix(rest, ending)
		}
		kind, name, known := kindAndName(rest)
		if !is || !known {
			continue
		}
		if file, ok := Executable(directory, kind, name); ok {
			list = append(list, Listing{Kind: kind, Name: name, Location: located(file, source)})
		}
	}
	return slices.CompactFunc(list, func(a, b Listing) bool { return a == b }) // the same with two endings
}

// kindAndName splits "resource-random".
func kindAndName(text string) (Kind, string, bool) {
	kind, name, _ := strings.Cut(text, "-")
	k := Kind(kind)
	return k, name, name != "" && slices.Contains([]Kind{Resource, Language, Analyzer, Converter, Tool}, k)
}
