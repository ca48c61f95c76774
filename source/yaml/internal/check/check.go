package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
)

// Options are the inputs of a check besides the program.
type Options struct {
	Schemas  *packages.Schemas
	Packages *packages.Registered
	// Lenient reports mistakes in types as warnings.
	Lenient bool
}

// Meanings are the types and functions of a program with their schemas.
type Meanings struct {
	Types     map[*bind.Node]Type // of resources
	Functions map[*ast.Invoke]Function
}

// Type is the type of a resource.
type Type struct {
	Token      string // the full token
	PackageRef string
	Schema     *schema.Resource // nil if unknown
}

// Function is the function of a token.
type Function struct {
	Token      string // the full token
	PackageRef string
	Schema     *schema.Function // nil if unknown
}

// Check finds the types and functions of a program, and adds mistakes to the report. It requests schemas from providers.
func Check(ctx context.Context, p *bind.Program, r *syntax.Report, o Options) Meanings {
	found := Meanings{Types: map[*bind.Node]Type{}, Functions: map[*ast.Invoke]Function{}}
	c := &checker{
		scope: p.Scope, directory: openDirectory(ctx, p, o), packages: o.Packages, report: r, meanings: found,
		properties: &properties{kinds: &kinds{scope: p.Scope, types: found.Types, open: map[*bind.Node]bool{}}, report: r, lenient: o.Lenient, followed: map[use]bool{}},
	}
	for _, n := range p.Nodes {
		if n.Resource != nil {
			c.resolve(n)
		}
	}
	for _, n := range p.Nodes {
		for _, x := range n.Exprs() {
			c.expr(x)
		}
		if n.Resource != nil && found.Types[n].Schema != nil {
			c.resource(n)
		}
		if n.Resource != nil {
			(&options{c.properties.kinds, r}).check(&n.Resource.Options)
		}
	}
	for _, o := range p.Template.Outputs {
		c.expr(o.Value)
	}
	return found
}

type checker struct {
	scope      *bind.Scope
	directory  *directory
	packages   *packages.Registered
	properties *properties
	report     *syntax.Report
	meanings   Meanings
}

// find returns the member for a token. An unknown token is always an error, even in lenient mode, because nothing can be registered without
// its full token.
func (c *checker) find(k memberKind, m ast.Mention) (*member, bool) {
	found := c.directory.find(k, m)
	if found.problem != "" {
		_ = c.report.Fail(m.Token.At, found.hint, "%w", advice.With(errors.New(found.problem), found.advice...))
		return nil, false
	}
	return found, true
}

// resolve finds the type of a resource.
func (c *checker) resolve(n *bind.Node) {
	r := n.Resource
	if why, hint := refusedType(r.Type.Value); why != "" {
		_ = c.report.Fail(r.Type.At, hint, "%s", why)
		return
	}
	found, ok := c.find(typeMember, r.Mention())
	if !ok {
		return
	}
	if isOldDocker(r.Type.Value, found.schema.Version) {
		_ = c.report.Fail(r.Type.At, "use version 4 or later of the package docker",
			"YAML programs cannot use the type %s of version %s of its package", r.Type.Value, found.schema.Version)
		return
	}
	t := Type{Token: found.token, PackageRef: c.packages.Ref(found.pkg), Schema: found.schema.Resource(found.token)}
	c.meanings.Types[n] = t
	if t.Schema != nil && t.Schema.Deprecation != "" {
		c.report.Warn(r.Type.At, t.Schema.Deprecation, "%s is deprecated", t.Token)
	}
}

// refusedType returns the reason why a type cannot be used in YAML (protocol.md 11.10), "" for others.
func refusedType(token string) (why, hint string) {
	switch token {
	case "kubernetes:apiextensions.k8s.io:CustomResource", "kubernetes:kustomize:Directory", "kubernetes:yaml:ConfigFile",
		"kubernetes:yaml:ConfigGroup":
		return fmt.Sprintf("YAML programs cannot use the type %s: it exists only in the SDKs of other languages", token), ""
	case "kubernetes:helm.sh/v2:Chart", "kubernetes:helm.sh/v3:Chart":
		return fmt.Sprintf("YAML programs cannot use the type %s: it exists only in the SDKs of other languages", token),
			"use kubernetes:helm.sh/v3:Release"
	}
	return "", ""
}

func isOldDocker(token, version string) bool {
	if token != "docker:image:Image" && token != "docker:Image" {
		return false
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return slices.Contains([]string{"0", "1", "2", "3"}, major)
}

// expr checks the functions that an expression calls, and the outputs and properties that it reads.
func (c *checker) expr(x ast.Expr) {
	ast.Walk(x, func(x ast.Expr) {
		if i, ok := x.(*ast.Invoke); ok {
			c.function(i)
		}
	})
	ast.Accesses(x, c.access)
}

// function finds a function, and checks its arguments.
func (c *checker) function(i *ast.Invoke) {
	found, ok := c.find(functionMember, i.Mention())
	if !ok {
		return
	}
	f := Function{Token: found.token, PackageRef: c.packages.Ref(found.pkg), Schema: found.schema.Function(found.token)}
	c.meanings.Functions[i] = f
	if f.Schema == nil {
		return
	}
	what := "the function " + f.Token
	var given []ast.ObjectEntry
	if o, ok := i.Args.(*ast.Object); ok {
		given = o.Entries
	}
	if i.Args == nil || given != nil {
		c.properties.entries(given, i.Range(), what, f.Schema.Inputs, f.Schema.Required)
	}
	switch {
	case !i.Return.IsGiven():
	case f.Schema.IsScalar:
		c.properties.mistake(i.Return.At, "remove `return`", "%s returns one value, not an object with a property %q", what, i.Return.Value)
	case f.Schema.Outputs != nil && f.Schema.Outputs[i.Return.Value] == nil:
		c.properties.unknown(i.Return.At, i.Return.Value, "the result of "+what, f.Schema.Outputs)
	}
}

// access checks an access to an output of a resource or to a property of a variable: it must exist.
func (c *checker) access(a *syntax.Access) {
	switch n := c.scope.Find(a.Root); {
	case n == nil:
	case n.Variable != nil:
		c.variable(n, a)
	default:
		c.output(n, a)
	}
}

// variable checks an access to a variable as far as the program writes its value out: a property that is not there is a mistake.
func (c *checker) variable(n *bind.Node, a *syntax.Access) {
	x := n.Variable.Value
	for i, step := range a.Steps {
		if call, ok := c.properties.kinds.value(x, 0).(*ast.Invoke); ok {
			c.typed(a, i, c.result(call))
			return
		}
		o, ok := c.properties.kinds.value(x, 0).(*ast.Object)
		if !ok || step.IsIndex {
			if x = c.properties.kinds.part(x, step, 0); x == nil {
				return
			}
			continue
		}
		names, all := keysOf(o)
		if !all {
			return // some names are computed
		}
		if slices.Contains(names, step.Name) {
			x = c.properties.kinds.part(o, step, 0)
			continue
		}
		hint := syntax.Nearest(step.Name, names)
		if hint == "" && len(names) > 0 {
			hint = "it has: " + syntax.Some(names, 5)
		}
		c.properties.mistake(a.Range, hint, "%s has no property %q", leading(a, i), step.Name)
		return
	}
}

// leading returns an access without the steps from one on.
func leading(a *syntax.Access, step int) *syntax.Access {
	return &syntax.Access{Root: a.Root, Steps: a.Steps[:step]}
}

// result returns the type of the result of a function.
func (c *checker) result(i *ast.Invoke) *schema.Type {
	f := c.meanings.Functions[i].Schema
	if f == nil || f.IsScalar {
		return &schema.Type{}
	}
	if !i.Return.IsGiven() {
		return &schema.Type{Kind: schema.Object, Properties: f.Outputs}
	}
	if p := f.Outputs[i.Return.Value]; p != nil {
		return p.Type
	}
	return &schema.Type{}
}

// typed checks an access from one of its steps on, as far as a schema describes the type of the value there: a property that is not there is a
// mistake.
func (c *checker) typed(a *syntax.Access, first int, t *schema.Type) {
	for i, step := range a.Steps[first:] {
		switch {
		case t.Kind == schema.Object && !step.IsIndex && len(t.Properties) > 0:
			p := t.Properties[step.Name]
			if p == nil {
				c.properties.unknown(a.Range, step.Name, leading(a, first+i).String(), t.Properties)
				return
			}
			t = p.Type
		case t.Kind == schema.Array && step.IsIndex, t.Kind == schema.MapOf && !step.IsIndex:
			t = t.Element
		default:
			return
		}
	}
}

// keysOf returns the keys of an object, and whether all of them are written out.
func keysOf(o *ast.Object) (names []string, all bool) {
	for _, entry := range o.Entries {
		name, ok := nameOf(entry)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// nameOf returns the key of an entry if it is written out.
func nameOf(entry ast.ObjectEntry) (string, bool) {
	key, ok := entry.Key.(*ast.Literal)
	if !ok || !key.Value.IsString() {
		return "", false
	}
	return key.Value.AsString(), true
}

// output checks an access to an output of a resource: the output must exist.
func (c *checker) output(n *bind.Node, a *syntax.Access) {
	t := c.meanings.Types[n]
	if t.Schema == nil || len(a.Steps) == 0 || a.Steps[0].IsIndex {
		return
	}
	name := a.Steps[0].Name
	if p := t.Schema.Outputs[name]; p != nil {
		c.typed(a, 1, p.Type)
		return
	}
	if name == "id" || name == "urn" || len(t.Schema.Outputs) == 0 {
		return
	}
	known := slices.AppendSeq([]string{"urn"}, maps.Keys(t.Schema.Outputs))
	if t.Schema.Outputs["id"] == nil {
		known = append(known, "id")
	}
	hint := syntax.Nearest(name, known)
	if hint == "" {
		hint = "it has: " + syntax.Some(known, 5)
	}
	c.properties.mistake(a.Range, hint, "the resource %q, a %s, has no output %q", n.Name, t.Token, name)
}

// resource checks the properties of a resource.
func (c *checker) resource(n *bind.Node) {
	r, t := n.Resource, c.meanings.Types[n]
	what := "the type " + t.Token
	switch {
	case r.PropertiesExpr != nil:
		if o, ok := c.properties.kinds.value(r.PropertiesExpr, 0).(*ast.Object); ok {
			c.properties.entries(o.Entries, r.Key.At, what, t.Schema.Inputs, t.Schema.Required)
		}
	case r.Get != nil:
		both := map[string]*schema.Property{}
		for _, m := range []map[string]*schema.Property{t.Schema.Outputs, t.Schema.Inputs} {
			for name, p := range m {
				both[name] = p
			}
		}
		c.properties.entries(entriesOf(r.Get.State), r.Get.At, what, both, nil)
	default:
		c.properties.entries(entriesOf(r.Properties), r.Key.At, what, t.Schema.Inputs, t.Schema.Required)
	}
}

// entriesOf returns properties as the entries of an object.
func entriesOf(ps []ast.Property) []ast.ObjectEntry {
	out := make([]ast.ObjectEntry, len(ps))
	for i, p := range ps {
		out[i] = ast.ObjectEntry{Key: ast.NewText(p.Name), Value: p.Value}
	}
	return out
}
