package native

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers"
)

// Catalog holds the packages that can be served in process. Each is made anew for every provider.
type Catalog map[string]func(Options) Package

// Names lists the packages in order.
func (c Catalog) Names() []string {
	var out []string
	for name := range c {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Serves reports whether the catalog has the package of a spec. A package is never built in if a parameterized plugin or
// one of another name serves it, if it comes from another place than the public package, if it must have certain
// checksums, or if the spec has an incompatible version.
func (c Catalog) Serves(spec providers.Spec) bool {
	describe, ok := c[spec.Package]
	if !ok || spec.Parameterization != nil || spec.Plugin != "" && spec.Plugin != spec.Package || len(spec.Checksums) > 0 {
		return false
	}
	of := describe(Options{})
	return of.fits(spec.Version) && (spec.DownloadURL == "" || strings.HasSuffix(spec.DownloadURL, "/"+of.repository()))
}

// Load makes a provider of a package in the catalog.
func (c Catalog) Load(spec providers.Spec, o Options) providers.Provider {
	return New(c[spec.Package](o), o)
}
