package shape

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Package holds the measures of one package.
type Package struct {
	Path     string   // within its module, "." for the root package
	Files    []string // names of its code files, sorted
	Needs    []Need   // between different files, sorted by From and To
	Types    []Type   // sorted by name
	Exported []string // package-level names, sorted
}

// Need records that one file of a package refers to what another one declares.
type Need struct {
	From, To string
	Refs     int      // how often
	Names    []string // the names that it refers to, sorted
}

// Load measures the packages that match the patterns, as go list understands them in dir. It compiles what they import,
// unless the build cache has it. Code that does not compile is an error.
func Load(dir string, patterns ...string) ([]Package, error) {
	config := &packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedModule | packages.NeedExportFile |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("listing the packages in %s: %w", dir, err)
	}
	var list []Package
	for _, p := range loaded {
		var errs []error
		for _, err := range p.Errors {
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, err)
		}
		list = append(list, measure(p))
	}
	slices.SortFunc(list, func(a, b Package) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// source is a package that is being measured.
type source struct {
	*packages.Package
	written map[string]*ast.File // the files that count, by name
}

func measure(p *packages.Package) Package {
	s := source{p, make(map[string]*ast.File)}
	for _, file := range p.Syntax {
		if !ast.IsGenerated(file) {
			s.written[s.file(file.Package)] = file
		}
	}
	return Package{
		Path:     within(p),
		Files:    slices.Sorted(maps.Keys(s.written)),
		Needs:    s.needs(),
		Types:    s.types(),
		Exported: s.exported(),
	}
}

// within returns the path of a package within its module.
func within(p *packages.Package) string {
	if p.Module == nil {
		return p.PkgPath
	}
	if rest := strings.TrimPrefix(p.PkgPath, p.Module.Path); rest != "" {
		return strings.TrimPrefix(rest, "/")
	}
	return "."
}

// file returns the name of the file that a position is in.
func (s source) file(pos token.Pos) string {
	return filepath.Base(s.Fset.PositionFor(pos, false).Filename)
}

// counts reports whether the file that a position is in counts.
func (s source) counts(pos token.Pos) bool { return s.written[s.file(pos)] != nil }

// needs collects every use of what another file declares. That can only be a package-level object, a method or a field:
// the scope of anything else ends with its file.
func (s source) needs() []Need {
	type ends struct{ from, to string }
	names := make(map[ends]map[string]int)
	for ident, object := range s.TypesInfo.Uses {
		if object.Pkg() != s.Types || !s.counts(ident.Pos()) || !s.counts(object.Pos()) {
			continue
		}
		e := ends{s.file(ident.Pos()), s.file(object.Pos())}
		if e.from == e.to {
			continue
		}
		if names[e] == nil {
			names[e] = make(map[string]int)
		}
		names[e][object.Name()]++
	}
	var list []Need
	for e, count := range names {
		need := Need{From: e.from, To: e.to, Names: slices.Sorted(maps.Keys(count))}
		for _, n := range count {
			need.Refs += n
		}
		list = append(list, need)
	}
	slices.SortFunc(list, func(a, b Need) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return list
}

func (s source) exported() []string {
	var names []string
	for _, name := range s.Types.Scope().Names() {
		if token.IsExported(name) && s.counts(s.Types.Scope().Lookup(name).Pos()) {
			names = append(names, name)
		}
	}
	return names
}
