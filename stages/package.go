package stages

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// CheckNames returns a [*urn.NameError] unless the names of the plugin and of its package are valid. They come from programs and
// plugins, and plugins are found by them.
func (p Package) CheckNames() error {
	if err := urn.CheckPluginName(p.Name); err != nil {
		return err
	}
	for _, x := range []*Parameterization{p.Parameterization, p.Extension} {
		if x == nil {
			continue
		}
		if err := urn.CheckPackageName("package", x.Name); err != nil {
			return err
		}
	}
	return nil
}

// OwnVersion is the version of the package itself.
func (p Package) OwnVersion() string {
	if p.Parameterization != nil {
		return p.Parameterization.Version
	}
	return p.Version
}

func IsNewer(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return errA == nil && errB != nil
	}
	return va.GreaterThan(vb)
}

// ServedBy returns the package whose provider serves resources of a type: that of the type, or the one that an extension extends.
func (p Package) ServedBy(t urn.Type) string {
	if p.Extension != nil {
		return p.Name
	}
	return t.Package()
}

// Spec returns the specification of the provider of pkg.
func (p Package) Spec(pkg string) providers.Spec {
	s := providers.Spec{
		Package: pkg, Version: p.OwnVersion(), DownloadURL: p.DownloadURL, Checksums: p.Checksums, Recorded: p.Recorded, Exact: p.Exact,
	}
	if p.Parameterization != nil {
		s.Parameterization = &providers.Parameterization{Plugin: p.Name, PluginVersion: p.Version, Value: p.Parameterization.Value}
	}
	return s
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

// Ref returns the reference to an extension in states: the same for the same content (state.md 1.10).
func (p Parameterization) Ref() string {
	h := sha256.New()
	h.Write([]byte(p.Name))
	h.Write([]byte{0})
	h.Write([]byte(p.Version))
	h.Write([]byte{0})
	h.Write(p.Value)
	return hex.EncodeToString(h.Sum(nil))
}

// BuiltinPackage is the package that the engine itself provides (steps.md 10.5).
const BuiltinPackage = "pulumi"
