package stages

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// resolveProvider finds the explicit provider of a resource: its own, by package among those given with it, or by
// package among its parent component's (protocol.md 4.5).
func (r *admission) resolveProvider(own string, given map[string]string, parent urn.URN, pkg string) string {
	if own != "" {
		return own
	}
	if p, ok := given[pkg]; ok {
		return p
	}
	if f := r.families.of(parent); parent != "" && f != nil {
		return f.providers[pkg]
	}
	return ""
}

// completeProviders adds the parent component's providers to a component's.
func (c *completion) completeProviders() {
	c.providers = c.opts.Providers
	if f := c.families.of(c.req.Parent); !c.req.Custom && c.req.Parent != "" && f != nil {
		c.providers = mergeProviders(c.opts.Providers, f.providers)
	}
}

// chooseProvider finds the provider reference (steps.md 1.2 item 11).
func (c *completion) chooseProvider(ctx context.Context) error {
	if (!c.req.Custom || c.req.Type.IsProvider()) && !c.req.Remote {
		return nil
	}
	if c.opts.Provider != "" {
		c.provider = c.opts.Provider
		return nil
	}
	pkg, err := c.pkg()
	if err != nil {
		return err
	}
	c.provider, err = c.defaults.reference(ctx, pkg.servedBy(c.req.Type), pkg)
	return err
}

// extension returns the reference of the extension that the resource belongs to, "" for none.
func (c *completion) extension() (string, error) {
	if c.req.PackageRef == "" || c.req.Type.IsProvider() || !c.req.Custom && !c.req.Remote {
		return "", nil
	}
	pkg, err := c.pkg()
	if err != nil || pkg.Extension == nil {
		return "", err
	}
	return c.extensions.register(*pkg.Extension), nil
}

// pkg is the package that the request names, with what transforms changed.
func (c *completion) pkg() (Package, error) {
	p := c.req.Package
	p.Version, p.DownloadURL, p.Checksums = c.opts.Version, c.opts.PluginDownloadURL, c.opts.PluginChecksums
	if p.Version != "" {
		if _, err := semver.NewVersion(p.Version); err != nil {
			return Package{}, invalid("%s %q: version %q is not a semantic version: %w", c.req.Type, c.req.Name, p.Version, err)
		}
	}
	return c.packages.meant(p, c.req.PackageRef)
}

// providerInputs writes what is needed to start a provider into its inputs (steps.md 1.2 item 13).
func (c *completion) providerInputs() error {
	if !c.req.Type.IsProvider() {
		return nil
	}
	pkg, err := c.pkg()
	if err != nil {
		return err
	}
	name := c.req.Type.ProviderPackage()
	if known, ok := c.defaults.newest[name]; ok && c.opts.Version == "" && c.opts.PluginDownloadURL == "" && c.req.PackageRef == "" {
		pkg.Version, pkg.DownloadURL = known.Version, known.DownloadURL
	}
	have, err := providers.SpecFromInputs(c.req.Type, c.props)
	if err != nil {
		return invalid("provider %q: %w", c.req.Name, err)
	}
	want := pkg.spec(name)
	if want.Version == "" {
		want.Version = have.Version
	}
	if want.DownloadURL == "" {
		want.DownloadURL = have.DownloadURL
	}
	want.Environment = c.req.EnvVarMappings
	c.props = want.Inputs(c.props)
	return nil
}

// deniedText is diagnostic 2015.
const deniedText = "Default provider for '%v' disabled. '%v' must use an explicit provider."
