package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

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

// fits reports whether a version of the public package has the shape of this one, as far as version numbers show: it has the same major
// number, or the same minor number below 1.
func (p Package) fits(version string) bool {
	if version == "" {
		return true
	}
	asked, err := semver.NewVersion(version)
	is, none := semver.NewVersion(p.Version)
	if err != nil || none != nil {
		return false
	}
	return asked.Major() == is.Major() && (is.Major() > 0 || asked.Minor() == is.Minor())
}

// repository returns the repository of the public package, with its owner.
func (p Package) repository() string { return cmp.Or(p.Owner, "pulumi") + "/pulumi-" + p.Name }

// Load makes a provider of a package in the catalog.
func (c Catalog) Load(spec providers.Spec, o Options) providers.Provider {
	return New(c[spec.Package](o), o)
}
