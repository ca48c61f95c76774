package packages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Package is a package with its schema.
type Package struct {
	tooling.PackageSchema
	Schema []byte // as JSON
	// Entry is the package in the form of project files; nil for a schema that does not come from a provider.
	Entry *workspace.Package
	// plugin is the folder of a plugin on the disk, "" for one that is found by its name.
	plugin    string
	isBuiltin bool // a built-in provider has served it
}

// Describe writes a description of the selected part of the schema.
func (p *Package) Describe(w io.Writer, q Question) error {
	var d described
	if err := json.Unmarshal(p.Schema, &d); err != nil {
		return fmt.Errorf("the schema of %s cannot be read: %w", p.Name, err)
	}
	out := &strings.Builder{}
	var err error
	switch {
	case q.Resource != "" && q.Function != "":
		err = exit.Usagef("--resource and --function cannot be used together")
	case q.Resource != "":
		err = one(out, "resource", q.Module, q.Resource, d.Resources)
	case q.Function != "":
		err = one(out, "function", q.Module, q.Function, d.Functions)
	case q.Module != "":
		err = d.module(out, q.Module)
	default:
		p.overview(out, d)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, out.String())
	return err
}

func (p *Package) overview(out *strings.Builder, d described) {
	modules := map[string]int{}
	for _, list := range []map[string]member{d.Resources, d.Functions} {
		for token := range list {
			modules[moduleOf(token)]++
		}
	}
	fmt.Fprintf(out, "Name: %s\nVersion: %s\nDescription: %s\n", p.Name, p.Version, summary(d.Description))
	fmt.Fprintf(out, "Resources: %d\nFunctions: %d\nModules: %s\n", len(d.Resources), len(d.Functions),
		strings.Join(slices.Sorted(maps.Keys(modules)), ", "))
}

// Published returns the command that installs the published SDK of a package; "" if there can be none.
func (p *Package) Published(language string) string {
	if p.Entry == nil || p.plugin != "" || p.Parameterization != nil || p.ExtensionParameterization != nil {
		return ""
	}
	var s struct {
		Language struct {
			Nodejs, Python struct{ PackageName string }
			Go             struct{ ImportBasePath string }
		}
	}
	if json.Unmarshal(p.Schema, &s) != nil { // only this command needs this part of the schema
		return ""
	}
	at := func(mark string) string {
		if p.Version == "" {
			return ""
		}
		return mark + p.Version
	}
	switch language {
	case "nodejs":
		return "npm install " + cmp.Or(s.Language.Nodejs.PackageName, "@pulumi/"+p.Name) + at("@")
	case "python":
		return "pip install " + cmp.Or(s.Language.Python.PackageName, "pulumi_"+strings.ReplaceAll(p.Name, "-", "_")) + at("==")
	case "go":
		if base := s.Language.Go.ImportBasePath; base != "" {
			return "go get " + base
		}
	}
	return ""
}

// newPackage parses a schema. of is not nil if the plugin was parameterized.
func newPackage(from string, text []byte, of *providers.ParameterizeRequest) (*Package, error) {
	s, err := tooling.ReadPackageSchema(text)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s cannot be used: %w", from, err)
	}
	if of != nil && s.Parameterization == nil && s.ExtensionParameterization == nil {
		return nil, fmt.Errorf("the schema of %s cannot be used: the plugin was given parameters, but the schema of the package %q has no "+
			"parameterization, without which no program can use it; this is a bug in the plugin", from, s.Name)
	}
	return &Package{PackageSchema: s, Schema: text}, nil
}
