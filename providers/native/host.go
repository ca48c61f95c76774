package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers"
)

// Catalog holds the packages that can be served in process, each made anew for every provider.
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

// Serves reports whether the catalog has what a spec asks for. A package that a parameterized plugin or one of another name
// serves is never built in, nor one that comes from elsewhere than the public package or has to have certain checksums.
func (c Catalog) Serves(spec providers.Spec) bool {
	describe, ok := c[spec.Package]
	if !ok || spec.Parameterization != nil || spec.Plugin != "" && spec.Plugin != spec.Package || len(spec.Checksums) > 0 {
		return false
	}
	return spec.DownloadURL == "" || strings.HasSuffix(spec.DownloadURL, "/"+describe(Options{}).repository())
}

// repository is where the public package comes from: an owner's repository.
func (p Package) repository() string { return cmp.Or(p.Owner, "pulumi") + "/pulumi-" + p.Name }

// Load makes a provider of a package that the catalog has.
func (c Catalog) Load(spec providers.Spec, o Options) providers.Provider {
	return New(c[spec.Package](o), o)
}
