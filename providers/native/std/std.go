// Package std is the built-in provider of the package "std": functions on texts, numbers, lists, objects, files and
// addresses, with the shapes of the public package of that name. Relative paths are relative to the program's directory.
//
// If the behaviour of the public package differs from its own description, the description counts, unless the results
// would then differ; docs/builtin-providers.md has the list.
//
// Invariant: a function depends on its arguments alone, except for those that read files, the clock or random numbers.
package std

import (
	"slices"
	"time"

	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "std"

// Package describes the package.
func Package(o native.Options) native.Package {
	d := disk{options: o}
	return native.Package{
		Name: Name, Version: "2.3.2", Doc: "Functions on texts, numbers, lists, objects, files and addresses.",
		Functions: slices.Concat(
			textFunctions(), patternFunctions(), numberFunctions(), listFunctions(), setFunctions(), objectFunctions(),
			encodings(), secrets(), d.files(), d.paths(), addresses(), conversions(), times(time.Now),
		),
	}
}
