package operation

import (
	"context"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// findPackagesUntilStopped finds the packages of the program. An interrupt ends that, however long the program or its language
// plugin would take. That is not an error here: the following run is stopped before it begins.
func (o *opened) findPackagesUntilStopped(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	o.settings.OnInterrupt(end, func() {})
	if o.packages, err = o.findPackages(ctx); err != nil && o.settings.Stopped() {
		return nil
	}
	return err
}

// findPackages returns the versions of the program's packages, from the program or, if there is none, from the state.
func (o *opened) findPackages(ctx context.Context) ([]stages.Package, error) {
	var ps []stages.Package
	var err error
	switch {
	case o.settings.RunsProgram():
		if err := o.prepareProgram(ctx); err != nil {
			return nil, err
		}
		ps, err = o.settings.Program.Packages(ctx)
	case !o.settings.isImport():
		return nil, nil
	default:
		ps = o.importedPackages(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		if err := p.CheckNames(); err != nil {
			return nil, fmt.Errorf("the program needs a package that no plugin can serve: %w", err)
		}
	}
	if len(ps) == 0 {
		ps = o.recordedPackages()
	}
	return ps, nil
}

// prepareProgram makes the program build or install whatever it lacks.
func (o *opened) prepareProgram(ctx context.Context) error {
	p, needed := o.settings.Program.(source.Preparer)
	if !needed {
		return nil
	}
	return p.Prepare(ctx, func(m stages.LogMessage) { o.events.emit(stages.Diagnostic{LogMessage: m}) })
}

// prepareProviders makes the host prepare the providers of the packages, all at the same time: those of the program, and the
// recorded ones, which deletes may need. A provider that cannot be prepared is an error only when it is needed. It returns the
// providers that take time to start and that the program will most likely need.
func (o *opened) prepareProviders(ctx context.Context) []providers.Spec {
	host, can := o.settings.Providers.(providers.Preparer)
	if !can {
		return nil
	}
	var specs []providers.Spec
	seen := map[[3]string]bool{}
	for _, p := range slices.Concat(o.packages, o.recordedPackages()) {
		plugin := [3]string{p.Name, p.Version, p.DownloadURL}
		if p.Name != stages.BuiltinPackage && !seen[plugin] {
			seen[plugin] = true
			specs = append(specs, p.Spec(nameOf(p)))
		}
	}
	return slices.DeleteFunc(host.Prepare(ctx, specs), func(s providers.Spec) bool { return !o.willBeNeeded(s) })
}

// willBeNeeded reports whether the program most likely needs a provider: the program names the package, and the state is empty or
// has its default provider.
func (o *opened) willBeNeeded(spec providers.Spec) bool {
	return o.settings.RunsProgram() &&
		slices.ContainsFunc(o.packages, func(p stages.Package) bool {
			return nameOf(p) == spec.Package && p.OwnVersion() == spec.Version
		}) &&
		(len(o.base.Resources) == 0 || slices.ContainsFunc(o.base.Resources, func(r *state.Resource) bool {
			return r.URN.IsDefaultProvider() && r.Type.ProviderPackage() == spec.Package
		}))
}

// nameOf returns the name of the package for which a package's plugin is started.
func nameOf(p stages.Package) string {
	name, _ := nameAndVersion(p)
	return name
}

// importedPackages returns the versions that the program uses. An import does not need them: a program whose dependencies are not
// installed yet may have none.
func (o *opened) importedPackages(ctx context.Context) []stages.Package {
	if o.settings.Program == nil {
		return nil
	}
	ps, err := o.settings.Program.Packages(ctx)
	if err != nil {
		o.settings.Log.Warn("asking the program for its packages", "error", err)
	}
	return ps
}

// recordedPackages lists the packages of the recorded providers whose version is known.
func (o *opened) recordedPackages() []stages.Package {
	var ps []stages.Package
	for _, r := range o.base.Resources {
		if !r.Type.IsProvider() || r.Delete {
			continue
		}
		if p, err := stages.PackageOf(r.Type, r.Inputs); err == nil && p.Version != "" {
			p.Recorded = true
			ps = append(ps, p)
		}
	}
	return ps
}

// warnOfOlderPackages warns if an operation that does not run the program works with older versions of packages than those of the
// program (steps.md 7.5): with those of the recorded providers. It ignores an error of the program in listing its versions.
func (o *opened) warnOfOlderPackages(ctx context.Context) {
	if o.settings.RunsProgram() || o.settings.isImport() || o.settings.Program == nil {
		return
	}
	wanted, err := o.settings.Program.Packages(ctx)
	if err != nil {
		o.settings.Log.Debug("asking the program for its packages", "error", err)
		return
	}
	kind := "refresh"
	if o.settings.Stages.Mode == stages.ModeDestroy {
		kind = "destroy"
	}
	told := map[string]bool{}
	for _, p := range wanted {
		name, version := nameAndVersion(p)
		for _, old := range o.recordedPackages() {
			oldName, oldVersion := nameAndVersion(old)
			if oldName != name || !isOlder(oldVersion, version) {
				continue
			}
			text := fmt.Sprintf("%s operation is using an older version of package '%s' than the specified program version: %s < %s",
				kind, name, oldVersion, version)
			if !told[text] {
				told[text] = true
				o.events.warn("", text)
			}
		}
	}
}

// nameAndVersion returns those of the package, which may be parameterized and served by another package's plugin.
func nameAndVersion(p stages.Package) (name, version string) {
	if p.Parameterization != nil {
		return p.Parameterization.Name, p.Parameterization.Version
	}
	return p.Name, p.Version
}

// isOlder compares versions. A malformed version is not older than anything.
func isOlder(a, b string) bool {
	v, err := semver.NewVersion(a)
	if err != nil {
		return false
	}
	w, err := semver.NewVersion(b)
	return err == nil && v.LessThan(w)
}
