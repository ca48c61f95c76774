package plugin

import (
	"cmp"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
)

// ProjectPackage is a package for which the project has more than a name. The project's entry is followed or is an error: no other
// plugin may serve the package.
type ProjectPackage struct {
	Name string
	// Plugin serves it; "" is the plugin of its name. Version is the version of the plugin, "" for any. DownloadURL is the place to
	// download it from, "" for the usual ones.
	Plugin, Version, DownloadURL string
	// Parameters are the arguments from which the plugin makes the package, if there are any.
	Parameters []string
}

// IsQualified reports whether the project has more than a name for a package.
func (f Finder) IsQualified(name string) bool {
	for _, p := range f.Packages {
		if p.Name == name {
			return true
		}
	}
	return false
}

// completeFromPackages returns spec with the project's values for the fields that the program leaves open.
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

// checkMade refuses a spec without a parameterization for a package that a plugin makes from the project's parameters: only an
// SDK or a lock file has the parameterization.
func (f Finder) checkMade(spec providers.Spec) error {
	for _, p := range f.Packages {
		if p.Name == spec.Package && len(p.Parameters) > 0 && spec.Parameterization == nil {
			return advice.Errorf(advice.On(advice.InstallProject), "the project has the plugin %q make the package %q of parameters (see `packages` in the project file), "+
				"and that has not been done yet", p.Plugin, p.Name)
		}
	}
	return nil
}
