package plugin

import (
	"cmp"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
)

// ProjectPackage is a package of which the project says more than its name. What the project says is followed or is an error: nothing
// else may serve the package.
type ProjectPackage struct {
	Name string
	// Plugin serves it; "" is the plugin of its name. Version is that of the plugin, "" for any, and DownloadURL the place where it can be
	// obtained, "" for the usual ones.
	Plugin, Version, DownloadURL string
	// Parameters are what the plugin makes the package of, if there are any.
	Parameters []string
}

// IsQualified reports whether the project says more about a package than its name.
func (f Finder) IsQualified(name string) bool {
	for _, p := range f.Packages {
		if p.Name == name {
			return true
		}
	}
	return false
}

// completeFromPackages returns spec with what the project says about its package and the program leaves open.
func (f Finder) completeFromPackages(spec providers.Spec) providers.Spec {
	for _, p := range f.Packages {
		if p.Name != spec.Package || len(p.Parameters) > 0 || spec.Parameterization != nil {
			continue
		}
		if p.Plugin != "" && p.Plugin != p.Name {
			spec.Plugin = cmp.Or(spec.Plugin, p.Plugin)
		}
		spec.Version = cmp.Or(spec.Version, p.Version)
		if p.DownloadURL != "" && (spec.DownloadURL == "" || spec.Recorded) {
			spec.DownloadURL, spec.Recorded = p.DownloadURL, false
		}
	}
	return spec
}

// checkMade refuses a package that the project has a plugin make of parameters, where spec says nothing of how: only an SDK or a lock
// file does.
func (f Finder) checkMade(spec providers.Spec) error {
	for _, p := range f.Packages {
		if p.Name == spec.Package && len(p.Parameters) > 0 && spec.Parameterization == nil {
			return advice.Errorf(advice.On(advice.InstallProject), "the project has the plugin %q make the package %q of parameters (see `packages` in the project file), "+
				"and that has not been done yet", p.Plugin, p.Name)
		}
	}
	return nil
}
