package stages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// defaultProviders makes one provider for each package that is used without an explicit one (steps.md 1.6). The first
// request for a package registers it; others wait for the same answer (ORD-9). A failure is not remembered.
type defaultProviders struct {
	run     *Run
	newest  map[string]Package // what the language host reported, by package
	mu      sync.Mutex
	flights map[string]*await.Promise[string]
}

func newDefaultProviders(r *Run) *defaultProviders {
	d := &defaultProviders{run: r, newest: map[string]Package{}, flights: map[string]*await.Promise[string]{}}
	for _, p := range r.Packages {
		if p.Extension != nil {
			continue
		}
		name := p.Name
		if p.Parameterization != nil {
			name = p.Parameterization.Name
		}
		if have, ok := d.newest[name]; !ok || isNewer(p.version(), have.version()) {
			d.newest[name] = p
		}
	}
	return d
}

// version is the version of the package itself.
func (p Package) version() string {
	if p.Parameterization != nil {
		return p.Parameterization.Version
	}
	return p.Version
}

func isNewer(a, b string) bool {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return errA == nil && errB != nil
	}
	return va.GreaterThan(vb)
}

// normalize fills in what the request leaves open from what the language host reported.
func (d *defaultProviders) normalize(pkg string, p Package) Package {
	known, ok := d.newest[pkg]
	if p.Name == "" {
		p.Name = pkg
	}
	if !ok {
		return p
	}
	if p.Parameterization == nil && known.Parameterization != nil {
		p.Parameterization, p.Name, p.Version = known.Parameterization, known.Name, known.Version
	}
	if p.Version == "" {
		p.Version = known.Version
	}
	if p.DownloadURL == "" {
		p.DownloadURL = known.DownloadURL
	}
	if p.Checksums == nil {
		p.Checksums = known.Checksums
	}
	return p
}

// servedBy is the package whose provider serves resources of a type: that of the type, or the one that an extension is
// layered on.
func (p Package) servedBy(t urn.Type) string {
	if p.Extension != nil {
		return p.Name
	}
	return t.Package()
}

// spec says how to start the provider of pkg.
func (p Package) spec(pkg string) providers.Spec {
	s := providers.Spec{Package: pkg, Version: p.version(), DownloadURL: p.DownloadURL, Checksums: p.Checksums}
	if p.Parameterization != nil {
		s.Parameterization = &providers.Parameterization{Plugin: p.Name, PluginVersion: p.Version, Value: p.Parameterization.Value}
	}
	return s
}

// PackageOf returns what the inputs of a provider resource say about the plugin that it needs: the inverse of how they are
// made for a package.
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

func (d *defaultProviders) isDenied(pkg string) bool {
	return pkg != builtinPackage && (slices.Contains(d.run.DeniedProviders, "*") || slices.Contains(d.run.DeniedProviders, pkg))
}

// reference returns the reference of the default provider of a package, and registers it first if need be.
func (d *defaultProviders) reference(ctx context.Context, pkg string, p Package) (string, error) {
	p = d.normalize(pkg, p)
	if d.isDenied(pkg) {
		return urn.DeniedRef(pkg).String(), nil
	}
	spec := p.spec(pkg)
	key := strings.Join([]string{pkg, spec.Version, spec.DownloadURL}, "\x00")

	d.mu.Lock()
	flight, ok := d.flights[key]
	if !ok {
		flight = await.NewPromise[string]()
		d.flights[key] = flight
	}
	d.mu.Unlock()
	if ok {
		return flight.Wait(ctx)
	}
	ref, err := d.register(ctx, spec)
	if err != nil {
		d.mu.Lock()
		delete(d.flights, key)
		d.mu.Unlock()
		flight.Fail(err)
		return "", err
	}
	flight.Resolve(ref)
	return ref, nil
}

func (d *defaultProviders) register(ctx context.Context, spec providers.Spec) (string, error) {
	name, err := defaultName(spec)
	if err != nil {
		return "", err
	}
	q := newQuestion(true)
	ok := d.run.intake.Put(Submitted{Question: q, internal: &Goal{
		Type:   urn.ProviderType(spec.Package),
		Name:   name,
		Custom: true,
		Inputs: spec.Inputs(d.run.PackageConfig(spec.Package)),
	}})
	if !ok {
		return "", ErrShutDown
	}
	reply, err := q.promise.Wait(ctx)
	if err != nil {
		return "", err
	}
	if reply.Result != Success {
		return "", fmt.Errorf("the default provider for package %q could not be made; see its own error", spec.Package)
	}
	return urn.ProviderRef{URN: reply.URN, ID: reply.ID}.String(), nil
}

// defaultName returns the name of a default provider (steps.md 1.6).
func defaultName(spec providers.Spec) (string, error) {
	name := "default"
	if spec.Version != "" {
		v, err := semver.NewVersion(spec.Version)
		if err != nil {
			return "", &InvalidRequestError{fmt.Errorf("package %q has the version %q, which is not a semantic version: %w", spec.Package, spec.Version, err)}
		}
		name += fmt.Sprintf("_%d_%d_%d", v.Major(), v.Minor(), v.Patch())
		for _, part := range []string{v.Prerelease(), v.Metadata()} {
			if part != "" {
				name += "_" + strings.NewReplacer(".", "_", "-", "_").Replace(part)
			}
		}
	}
	if spec.DownloadURL != "" {
		name += "_" + urlAsName(spec.DownloadURL)
	}
	return name, nil
}

// urlAsName keeps letters, digits and underscores and turns everything else into underscores.
func urlAsName(url string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.TrimSuffix(url, "/"))
}

// mergeProviders returns the providers of a component, completed from its parent component's.
func mergeProviders(own, parents map[string]string) map[string]string {
	if len(parents) == 0 {
		return own
	}
	merged := maps.Clone(parents)
	maps.Copy(merged, own)
	return merged
}
