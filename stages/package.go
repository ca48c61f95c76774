package stages

import (
	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// IsNewer reports whether version a is newer than b. A text that is no version is older than any version.
func IsNewer(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return errA == nil && errB != nil
	}
	return va.GreaterThan(vb)
}

// PackageOf returns the plugin that the inputs of a provider resource describe. It is the inverse of making such inputs for a
// package.
func PackageOf(t urn.Type, inputs property.Map) (Package, error) {
	spec, err := providers.SpecFromInputs(t, inputs)
	if err != nil {
		return Package{}, err
	}
	p := Package{Name: spec.Package, Version: spec.Version, DownloadURL: spec.DownloadURL, Checksums: spec.Checksums}
	if x := spec.Parameterization; x != nil {
		p.Parameterization = &Parameterization{Name: spec.Package, Version: spec.Version, Value: x.Value}
		p.Name, p.Version = x.Plugin, x.PluginVersion
	}
	return p, nil
}

// BuiltinPackage is the package that the engine itself provides ([steps.md 10.5]).
//
// [steps.md 10.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#105-the-package-pulumi
const BuiltinPackage = "pulumi"
