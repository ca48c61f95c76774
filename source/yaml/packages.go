package yaml

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Packages lists the packages that the program mentions, sorted, without the engine's own (protocol.md 11.10). A lock file determines all
// properties of its package. For other packages, the version and URL of the first mention apply. Exact is set if any
// mention of the package has a version or URL.
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	l, err := p.load(ctx, stages.RunInfo{})
	if err != nil {
		return nil, err
	}
	if l.diagnostics.HasErrors() {
		return nil, &ProgramError{Program: p.project.Program(), Text: l.diagnostics.ErrorText(l.file)}
	}
	locked := map[string][]stages.Package{}
	for _, pkg := range l.packages {
		name := packages.Namespace(pkg)
		locked[name] = append(locked[name], pkg)
	}
	seen, exact := map[string]bool{"pulumi": true}, map[string]bool{}
	var list []stages.Package
	l.template.Mentions(func(m ast.Mention) {
		name := ast.PackageOf(m.Token.Value)
		exact[name] = exact[name] || m.Version.Value != "" || m.URL.Value != ""
		if seen[name] || urn.CheckPackageName("package", name) != nil {
			return // the run of the program reports a wrong name with its place
		}
		seen[name] = true
		if known := locked[name]; known != nil {
			list = append(list, known...)
			return
		}
		list = append(list, stages.Package{Name: name, Version: m.Version.Value, DownloadURL: m.URL.Value})
	})
	for i := range list {
		list[i].Exact = list[i].Exact || exact[packages.Namespace(list[i])]
	}
	slices.SortFunc(list, comparePackages)
	return list, nil
}

func comparePackages(a, b stages.Package) int {
	name := func(p *stages.Parameterization) string {
		if p == nil {
			return ""
		}
		return p.Name + " " + p.Version
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(name(a.Parameterization), name(b.Parameterization)),
		cmp.Compare(name(a.Extension), name(b.Extension)), cmp.Compare(a.DownloadURL, b.DownloadURL))
}
