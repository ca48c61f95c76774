package native

import (
	"context"
	"slices"

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

// Serves tells whether the catalog has what a spec asks for. A package that a parameterized plugin or one of another name
// serves is never built in.
func (c Catalog) Serves(spec providers.Spec) bool {
	_, ok := c[spec.Package]
	return ok && spec.Parameterization == nil && (spec.Plugin == "" || spec.Plugin == spec.Package) && spec.DownloadURL == ""
}

// Load makes a provider of a package that the catalog has.
func (c Catalog) Load(spec providers.Spec, o Options) providers.Provider {
	return New(c[spec.Package](o), o)
}

// Host returns a host of what the catalog has; next has the rest.
func (c Catalog) Host(o Options, next providers.Host) providers.Host {
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		if c.Serves(spec) {
			return c.Load(spec, o), nil
		}
		return next.Load(ctx, spec)
	})
}
