package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/urn"
)

// DefaultProviders makes one provider for each package that is used without an explicit one (steps.md 1.6). The first
// request for a package registers it; all wait for the same answer (ORD-9). The registration belongs to the run: a request that ends
// before only stops waiting. A failure is an answer like any other, because the name of the provider cannot be registered again.
type DefaultProviders struct {
	intake        *await.Mailbox[stages.Submitted]
	packageConfig func(pkg string) property.Map
	denied        []string
	newest        map[string]stages.Package // reported by the language host, by package
	name          func(downloadURL string)  // the program's configuration of the sources of plugins
	made          await.Flight[requested, *madeDefault]
}

// madeDefault is a default provider that has been requested.
type madeDefault struct {
	reply     *stages.PendingReply
	named     sync.Once
	reference string // once the reply is there: all resources of the package share the text
}

// requested identifies a default provider.
type requested struct{ pkg, version, downloadURL string }

func newDefaultProviders(intake *await.Mailbox[stages.Submitted], s stages.Settings) *DefaultProviders {
	d := &DefaultProviders{intake: intake, packageConfig: s.PackageConfig, denied: s.DeniedProviders, newest: map[string]stages.Package{}, name: s.Registry.Name}
	for _, p := range s.Packages {
		if !p.Recorded {
			d.name(p.DownloadURL)
		}
		if p.Extension != nil {
			continue
		}
		name := p.Name
		if p.Parameterization != nil {
			name = p.Parameterization.Name
		}
		if have, ok := d.newest[name]; !ok || stages.IsNewer(p.OwnVersion(), have.OwnVersion()) {
			d.newest[name] = p
		}
	}
	return d
}

// Normalize completes a request with the versions and URLs that the language host has reported.
func (d *DefaultProviders) Normalize(pkg string, p stages.Package) stages.Package {
	p = d.completed(pkg, p)
	p.DownloadURL = strings.TrimSuffix(p.DownloadURL, "/") // one place has one provider, however it is written
	return p
}

func (d *DefaultProviders) completed(pkg string, p stages.Package) stages.Package {
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

// IsDenied reports whether the configuration forbids default providers of a package.
func (d *DefaultProviders) IsDenied(pkg string) bool {
	return pkg != stages.BuiltinPackage && (slices.Contains(d.denied, "*") || slices.Contains(d.denied, pkg))
}

// reference returns the reference of the default provider of a package, and registers it first if necessary.
func (d *DefaultProviders) reference(ctx context.Context, pkg string, p stages.Package) (string, error) {
	d.name(p.DownloadURL)
	p = d.Normalize(pkg, p)
	if d.IsDenied(pkg) {
		return urn.DeniedRef(pkg).String(), nil
	}
	spec := p.Spec(pkg)
	key := requested{pkg, strings.TrimPrefix(spec.Version, "v"), spec.DownloadURL} // the name of the provider has no "v", either
	made, err := d.made.Do(ctx, key, func() (*madeDefault, error) { return d.register(spec) })
	if err != nil {
		return "", err
	}
	reply, err := made.reply.Wait(ctx)
	if err != nil {
		return "", err
	}
	if reply.Result != stages.Success {
		return "", &notMadeError{pkg: spec.Package, urn: reply.URN}
	}
	made.named.Do(func() { made.reference = urn.ProviderRef{URN: reply.URN, ID: reply.ID}.String() })
	return made.reference, nil
}

// register submits the registration of a default provider, and returns its reply without waiting for it.
func (d *DefaultProviders) register(spec providers.Spec) (*madeDefault, error) {
	name, err := DefaultName(spec)
	if err != nil {
		return nil, err
	}
	q := stages.NewPendingReply(true)
	ok := d.intake.Put(stages.Submitted{PendingReply: q, Internal: &stages.Goal{
		Type:   urn.ProviderType(spec.Package),
		Name:   name,
		Custom: true,
		Inputs: spec.Inputs(d.packageConfig(spec.Package)),
	}})
	if !ok {
		return nil, stages.ErrShutDown
	}
	return &madeDefault{reply: q}, nil
}

// notMadeError reports that a provider has failed: a default one, or in a preview any.
type notMadeError struct {
	pkg string
	urn urn.URN
}

func (e *notMadeError) Error() string {
	return fmt.Sprintf("the provider for package %q could not be made; see its own error", e.pkg)
}

// unmade returns the reference of a provider that a preview could not make. The resources that name it are skipped, and what its functions return
// is unknown.
func unmade(c *control.Control, err error) (reference string, ok bool) {
	if err == nil || !c.DryRun() {
		return "", false
	}
	var e *notMadeError
	if !errors.As(err, &e) {
		return "", false
	}
	return urn.ProviderRef{URN: e.urn, ID: urn.UnknownID}.String(), true
}

// DefaultName returns the name of a default provider (steps.md 1.6).
func DefaultName(spec providers.Spec) (string, error) {
	name := "default"
	if spec.Version != "" {
		v, err := semver.NewVersion(spec.Version)
		if err != nil {
			return "", &stages.InvalidRequestError{Err: fmt.Errorf("package %q has the version %q, which is not a semantic version: %w", spec.Package, spec.Version, err)}
		}
		name += fmt.Sprintf("_%d_%d_%d", v.Major(), v.Minor(), v.Patch())
		for _, part := range []string{v.Prerelease(), v.Metadata()} {
			if part != "" {
				name += "_" + strings.ReplaceAll(part, ".", "_")
			}
		}
	}
	if spec.DownloadURL != "" {
		name += "_" + urlAsName(spec.DownloadURL)
	}
	return name, nil
}

// urlAsName replaces characters that names of providers do not have by underscores. Slashes separate the parts of a name; empty
// parts are left out.
func urlAsName(url string) string {
	var parts []string
	for part := range strings.SplitSeq(url, "/") {
		if part == "" {
			continue
		}
		name := []byte(part)
		for i, b := range name {
			switch {
			case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '_', b == '.', b == '-':
			default:
				name[i] = '_'
			}
		}
		parts = append(parts, string(name))
	}
	return cmp.Or(strings.Join(parts, "/"), "_")
}
