package codegen

import (
	"fmt"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/urn"
)

// goImports are the packages that a Go program imports.
type goImports struct {
	imports map[string]string // path -> name
	names   map[string]bool   // that are taken
}

// goInfo is what a schema says about the Go SDK of its package.
type goInfo struct {
	ImportBasePath       string
	RootPackageName      string
	ImportPathPattern    string
	ModuleToPackage      map[string]string
	PackageImportAliases map[string]string
}

// basePath is where the packages of an SDK are, by the usual convention if the schema does not say.
func basePath(s *Schema, info goInfo) string {
	if info.ImportBasePath != "" {
		return info.ImportBasePath
	}
	base := "github.com/pulumi/pulumi-" + s.Name + "/sdk"
	if v, err := semver.NewVersion(s.Version); err == nil && v.Major() > 1 {
		base += fmt.Sprintf("/v%d", v.Major())
	}
	return base + "/go/" + s.Name
}

// qualifier imports the package in which a token of a schema is declared and returns how its names begin: "s3.".
func (i *goImports) qualifier(pkg *Schema, t urn.Type) string {
	var info goInfo
	pkg.language("go", &info)
	base := basePath(pkg, info)
	module := pkg.module(t)
	if m, ok := info.ModuleToPackage[module]; ok {
		module = m
	}
	module = strings.ToLower(module)
	full, name := base, info.RootPackageName
	if name == "" {
		name = path.Base(base)
	}
	if module != "" && module != "index" {
		name = path.Base(module)
		full = base + "/" + module
		if info.ImportPathPattern != "" {
			full = strings.NewReplacer("{module}", module, "{baseImportPath}", base).Replace(info.ImportPathPattern)
		}
	}
	if alias, ok := info.PackageImportAliases[full]; ok {
		name = alias
	}
	return i.importAs(full, name) + "."
}

// importAs imports a package under a name that nothing else has.
func (i *goImports) importAs(full, name string) string {
	if have, ok := i.imports[full]; ok {
		return have
	}
	name = strings.ReplaceAll(identifier(name), "_", "")
	unused := name
	if i.names[unused] { // "core/v1" beside "apps/v1"
		unused = strings.ReplaceAll(identifier(path.Base(path.Dir(full))), "_", "") + name
	}
	for n := 2; i.names[unused]; n++ {
		unused = fmt.Sprintf("%s%d", name, n)
	}
	i.names[unused] = true
	i.imports[full] = unused
	return unused
}
