package yaml

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	yamlv3 "gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Packages lists the packages that the program mentions, sorted, without the engine's own (protocol.md 11.10). What a lock
// file says counts for all of a package; else the version and URL of the first mention do.
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
		locked[namespaceOf(pkg)] = append(locked[namespaceOf(pkg)], pkg)
	}
	seen := map[string]bool{"pulumi": true}
	var list []stages.Package
	mentions(l.template, func(m mention) {
		name := packageOfToken(m.token.Value)
		if seen[name] {
			return
		}
		seen[name] = true
		if known := locked[name]; known != nil {
			list = append(list, known...)
			return
		}
		list = append(list, stages.Package{Name: name, Version: m.version.Value, DownloadURL: m.url.Value})
	})
	slices.SortFunc(list, comparePackages)
	return list, nil
}

// mention is a token in a program, with what is said about its package there.
type mention struct {
	token        ast.Text
	version, url ast.Text
	provider     ast.Expr // nil unless there is an explicit one
}

func mentionOf(r *ast.Resource) mention {
	return mention{r.Type, r.Options.Version, r.Options.PluginDownloadURL, r.Options.Provider}
}

func mentionIn(i *ast.Invoke) mention {
	return mention{i.Token, i.Options.Version, i.Options.PluginDownloadURL, i.Options.Provider}
}

// mentions calls visit for every type of a resource and every function, in the order of evaluation: resources, variables,
// outputs.
func mentions(t *ast.Template, visit func(mention)) {
	invokes := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) {
			if i, ok := e.(*ast.Invoke); ok && i.Token.IsGiven() {
				visit(mentionIn(i))
			}
		})
	}
	for _, r := range t.Resources {
		visit(mentionOf(r))
		for _, e := range r.Exprs() {
			invokes(e)
		}
	}
	for _, v := range slices.Concat(t.Variables, t.Outputs) {
		invokes(v.Value)
	}
}

// packageOfToken is the package whose plugin has a type or a function.
func packageOfToken(token string) string {
	if t := urn.Type(token); t.IsProvider() {
		return t.ProviderPackage()
	}
	name, _, _ := strings.Cut(token, ":")
	return name
}

// namespaceOf is the package in the tokens that a package serves: an extension adds to the package of its plugin.
func namespaceOf(p stages.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Name
	}
	return p.Name
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

// lockFile is a file below sdks/ that says which plugin serves a package.
type lockFile struct {
	Name, Version               string
	DownloadURL                 string `yaml:"downloadUrl"`
	Parameterization, Extension *lockParameter
}

type lockParameter struct {
	Name, Version string
	Value         string // base64
}

// lockedPackages reads the lock files of a program, in the order of their paths. Files that are something else are passed
// over.
func lockedPackages(directory string) ([]stages.Package, error) {
	var list []stages.Package
	err := filepath.WalkDir(filepath.Join(directory, "sdks"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := map[string]any{}
		if yamlv3.Unmarshal(b, &raw) != nil || raw["packageDeclarationVersion"] != 1 {
			return nil
		}
		pkg, err := parseLock(b)
		if err != nil {
			return fmt.Errorf("the package declaration %s: %w", path, err)
		}
		list = append(list, pkg)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

func parseLock(text []byte) (stages.Package, error) {
	var f lockFile
	if err := yamlv3.Unmarshal(text, &f); err != nil {
		return stages.Package{}, err
	}
	switch {
	case f.Name == "":
		return stages.Package{}, errors.New("it has no name")
	case f.Parameterization != nil && f.Extension != nil:
		return stages.Package{}, errors.New("it has both a parameterization and an extension")
	}
	pkg := stages.Package{Name: f.Name, Version: plainVersion(f.Version), DownloadURL: f.DownloadURL}
	var err error
	if pkg.Parameterization, err = f.Parameterization.parameterization("parameterization"); err != nil {
		return stages.Package{}, err
	}
	pkg.Extension, err = f.Extension.parameterization("extension")
	return pkg, err
}

func (p *lockParameter) parameterization(what string) (*stages.Parameterization, error) {
	if p == nil {
		return nil, nil
	}
	if p.Name == "" || p.Version == "" {
		return nil, fmt.Errorf("its %s has no name or no version", what)
	}
	value, err := base64.StdEncoding.DecodeString(p.Value)
	if err != nil {
		return nil, fmt.Errorf("the value of its %s is not base64: %w", what, err)
	}
	return &stages.Parameterization{Name: p.Name, Version: plainVersion(p.Version), Value: value}, nil
}

// plainVersion is a version without a leading "v". What is no version stays as it is; who needs it will say so.
func plainVersion(text string) string {
	if v, err := semver.NewVersion(text); err == nil {
		return v.String()
	}
	return text
}
