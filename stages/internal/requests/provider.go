package requests

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// resolveProvider finds the explicit provider of a resource: its own, that of its package among those given with it, or that of its
// package among its parent component's (protocol.md 4.5).
func (a *Admission) resolveProvider(own string, given map[string]string, parent urn.URN, pkg string) string {
	if own != "" {
		return own
	}
	if p, ok := given[pkg]; ok {
		return p
	}
	if f := a.Families.Of(parent); parent != "" && f != nil {
		return f.providers[pkg]
	}
	return ""
}

// completeProviders adds the parent component's providers to a component's.
func (c *Completion) completeProviders() {
	c.providers = c.opts.Providers
	if f := c.Admission.Families.Of(c.Req.Parent); !c.Req.Custom && c.Req.Parent != "" && f != nil {
		c.providers = mergeProviders(c.opts.Providers, f.providers)
	}
}

// chooseProvider finds the provider reference (steps.md 1.2 item 11).
func (c *Completion) chooseProvider(ctx context.Context) error {
	if (!c.Req.Custom || c.Req.Type.IsProvider()) && !c.Req.Remote {
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
	c.provider, err = c.Admission.Defaults.reference(ctx, pkg.ServedBy(c.Req.Type), pkg)
	return err
}

// extension returns the reference of the extension that the resource belongs to, "" for none.
func (c *Completion) extension() (string, error) {
	if c.Req.PackageRef == "" || c.Req.Type.IsProvider() || !c.Req.Custom && !c.Req.Remote {
		return "", nil
	}
	pkg, err := c.pkg()
	if err != nil || pkg.Extension == nil {
		return "", err
	}
	return c.Admission.access.Extensions.Register(*pkg.Extension), nil
}

// pkg returns the package that the request names, as changed by transforms.
func (c *Completion) pkg() (stages.Package, error) {
	p := c.Req.Package
	p.Version, p.DownloadURL, p.Checksums = c.opts.Version, c.opts.PluginDownloadURL, c.opts.PluginChecksums
	if p.Version != "" {
		if _, err := semver.NewVersion(p.Version); err != nil {
			return stages.Package{}, stages.Invalid("%s %q: version %q is not a semantic version: %w", c.Req.Type, c.Req.Name, p.Version, err)
		}
	}
	return c.Admission.packages.meant(p, c.Req.PackageRef)
}

// providerInputs adds the data for starting a provider to its inputs (steps.md 1.2 item 13).
func (c *Completion) providerInputs() error {
	if !c.Req.Type.IsProvider() {
		return nil
	}
	pkg, err := c.pkg()
	if err != nil {
		return err
	}
	c.Admission.Defaults.name(pkg.DownloadURL)
	name := c.Req.Type.ProviderPackage()
	if known, ok := c.Admission.Defaults.newest[name]; ok && c.opts.Version == "" && c.opts.PluginDownloadURL == "" && c.Req.PackageRef == "" {
		pkg.Version, pkg.DownloadURL = known.Version, known.DownloadURL
	}
	have, err := providers.SpecFromInputs(c.Req.Type, c.props)
	if err != nil {
		return stages.Invalid("provider %q: %w", c.Req.Name, err)
	}
	c.Admission.Defaults.name(have.DownloadURL)
	want := pkg.Spec(name)
	if want.Version == "" {
		want.Version = have.Version
	}
	if want.DownloadURL == "" {
		want.DownloadURL = have.DownloadURL
	}
	want.Environment = c.Req.EnvVarMappings
	c.props = want.Inputs(c.props)
	return nil
}
