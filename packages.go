package sluice

import (
	"context"
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/stages"
)

// packages asks the program for the versions of its packages; where it knows none, those that the state used count.
func (s *session) packages(ctx context.Context) ([]stages.Package, error) {
	var ps []stages.Package
	var err error
	switch {
	case s.runsProgram():
		ps, err = s.options.Program.Packages(ctx)
	case !s.op.isImport():
		return nil, nil
	default:
		ps = s.importedPackages(ctx)
	}
	if err != nil || len(ps) > 0 {
		return ps, err
	}
	return s.recordedPackages(), nil
}

// recordedPackages lists the packages that the recorded providers are of, those whose version is known.
func (s *session) recordedPackages() []stages.Package {
	var ps []stages.Package
	for _, r := range s.base.Resources {
		if !r.Type.IsProvider() || r.Delete {
			continue
		}
		if p, err := stages.PackageOf(r.Type, r.Inputs); err == nil && p.Version != "" {
			ps = append(ps, p)
		}
	}
	return ps
}

// warnOfOlderPackages tells that an operation which does not run the program works with older versions of packages than
// the program asks for (steps.md 7.5): those of the recorded providers. That the program cannot say what it asks for is no
// reason to fail.
func (s *session) warnOfOlderPackages(ctx context.Context) {
	if s.runsProgram() || s.op.isImport() || s.options.Program == nil {
		return
	}
	wanted, err := s.options.Program.Packages(ctx)
	if err != nil {
		s.options.Log.Debug("asking the program for its packages", "error", err)
		return
	}
	kind := "refresh"
	if s.op.mode == stages.ModeDestroy {
		kind = "destroy"
	}
	told := map[string]bool{}
	for _, p := range wanted {
		name, version := nameAndVersion(p)
		for _, old := range s.recordedPackages() {
			oldName, oldVersion := nameAndVersion(old)
			if oldName != name || !isOlder(oldVersion, version) {
				continue
			}
			text := fmt.Sprintf("%s operation is using an older version of package '%s' than the specified program version: %s < %s",
				kind, name, oldVersion, version)
			if !told[text] {
				told[text] = true
				s.warn("", text)
			}
		}
	}
}

// nameAndVersion are those of the package, which may be one that parameters make of another's plugin.
func nameAndVersion(p stages.Package) (name, version string) {
	if p.Parameterization != nil {
		return p.Parameterization.Name, p.Parameterization.Version
	}
	return p.Name, p.Version
}

// isOlder compares versions; what is none is not older than anything.
func isOlder(a, b string) bool {
	v, err := semver.NewVersion(a)
	if err != nil {
		return false
	}
	w, err := semver.NewVersion(b)
	return err == nil && v.LessThan(w)
}
