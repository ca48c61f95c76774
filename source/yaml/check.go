package yaml

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
)

// function is what the token of an invoke means.
type function struct {
	token      string
	packageRef string
	schema     *schema.Function // nil when it is not known
}

// check finds out what types and functions there are, and whether they get what they take (protocol.md 11.4). It is done
// before anything is registered.
func (e *evaluation) check(ctx context.Context) {
	e.functions = map[*ast.Invoke]*function{}
	c := &checker{evaluation: e, candidates: map[mention][]candidate{}, lenient: e.isLenient()}
	c.load(ctx)
	for _, n := range e.scope.order {
		if n.resource != nil {
			c.resolve(n)
		}
	}
	each := func(x ast.Expr) {
		ast.Walk(x, func(x ast.Expr) {
			if i, ok := x.(*ast.Invoke); ok {
				c.function(i)
			}
		})
		ast.Accesses(x, c.outputs)
	}
	for _, n := range e.scope.order {
		for _, x := range n.exprs() {
			each(x)
		}
		if n.resource != nil && n.schema != nil {
			c.resource(n)
		}
	}
	for _, o := range e.template.Outputs {
		each(o.Value)
	}
}

// isLenient tells whether mistakes in types are only warned about.
func (e *evaluation) isLenient() bool {
	if e.program.options.LookupEnv == nil {
		return false
	}
	v, _ := e.program.options.LookupEnv("PULUMI_DEBUG_YAML_DISABLE_TYPE_CHECKING")
	return v == "1" || strings.EqualFold(v, "true")
}

type checker struct {
	*evaluation
	candidates map[mention][]candidate
	lenient    bool
}

// candidate is one of the packages that may have what a token names.
type candidate struct {
	pkg    stages.Package
	schema *schema.Package
	err    error
}

// mistake reports something that is wrong about types.
func (c *checker) mistake(at syntax.Range, hint, format string, args ...any) {
	d := syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint}
	if c.lenient {
		d.Severity = syntax.Warning
	}
	c.report(d)
}

// wanted is what is asked for of a token: all tokens of one package and version share it.
func wanted(token ast.Text, version, url ast.Text) mention {
	return mention{
		token: ast.Text{Value: packageOfToken(token.Value)}, version: ast.Text{Value: version.Value}, url: ast.Text{Value: url.Value},
	}
}

// load asks for the schemas of all packages at once.
func (c *checker) load(ctx context.Context) {
	var order []mention
	mentions(c.template, func(m mention) {
		key := wanted(m.token, m.version, m.url)
		if _, known := c.candidates[key]; !known {
			c.candidates[key] = c.serving(key)
			order = append(order, key)
		}
	})
	p := pool.New().WithMaxGoroutines(16)
	for _, key := range order {
		list := c.candidates[key]
		for i := range list {
			p.Go(func() { list[i].schema, list[i].err = c.program.schemas.of(ctx, list[i].pkg) })
		}
	}
	p.Wait()
}

// serving lists the packages that may serve the tokens of a name: those of the lock files, and the plugin of that name
// unless it is among them.
func (c *checker) serving(m mention) []candidate {
	var list []candidate
	needsBase := true
	for _, pkg := range c.loaded.packages {
		if namespaceOf(pkg) != m.token.Value {
			continue
		}
		needsBase = needsBase && pkg.Extension != nil
		if m.version.Value != "" {
			pkg.Version = m.version.Value
		}
		if m.url.Value != "" {
			pkg.DownloadURL = m.url.Value
		}
		list = append(list, candidate{pkg: pkg})
	}
	if needsBase {
		list = append(list, candidate{pkg: stages.Package{Name: m.token.Value, Version: m.version.Value, DownloadURL: m.url.Value}})
	}
	return list
}

// choose returns the first package that has the token, with the token in full.
func (c *checker) choose(kind string, token, version, url ast.Text, resolve func(*schema.Package, string) (string, bool), names func(*schema.Package) []string) (candidate, string, bool) {
	list := c.candidates[wanted(token, version, url)]
	var known []string
	for _, candidate := range list {
		if candidate.err != nil {
			c.mistakeOfPackage(token, candidate.err)
			return candidate, "", false
		}
		if full, ok := resolve(candidate.schema, token.Value); ok {
			return candidate, full, true
		}
		known = append(known, names(candidate.schema)...)
	}
	c.mistakeOfPackage(token, &missingError{kind, token.Value, syntax.Nearest(token.Value, known)})
	return candidate{}, "", false
}

// missingError says that a package has no such type or function.
type missingError struct{ kind, token, hint string }

func (e *missingError) Error() string {
	return fmt.Sprintf("the package %s has no %s %q", packageOfToken(e.token), e.kind, e.token)
}

// mistakeOfPackage reports what no leniency can help with: without its full token nothing can be registered.
func (c *checker) mistakeOfPackage(token ast.Text, err error) {
	d := syntax.Diagnostic{Severity: syntax.Error, Range: token.At, Summary: err.Error()}
	if missing, ok := err.(*missingError); ok {
		d.Hint = missing.hint
	} else {
		d.Summary = fmt.Sprintf("the package %s cannot be asked what is in it: %v", packageOfToken(token.Value), err)
	}
	c.report(d)
}

// resolve finds out what the type of a resource is.
func (c *checker) resolve(n *node) {
	r := n.resource
	if why, hint := refusedType(r.Type.Value); why != "" {
		c.report(syntax.Diagnostic{Severity: syntax.Error, Range: r.Type.At, Summary: why, Hint: hint})
		return
	}
	found, full, ok := c.choose("type", r.Type, r.Options.Version, r.Options.PluginDownloadURL, (*schema.Package).ResolveResource, (*schema.Package).ResourceTokens)
	if !ok {
		return
	}
	if isOldDocker(r.Type.Value, found.schema.Version) {
		c.report(syntax.Diagnostic{Severity: syntax.Error, Range: r.Type.At, Hint: "use version 4 or later of the package docker",
			Summary: fmt.Sprintf("YAML programs cannot use the type %s of version %s of its package", r.Type.Value, found.schema.Version)})
		return
	}
	n.token, n.schema = full, found.schema.Resource(full)
	n.packageRef = c.refs[comparableName(found.pkg)]
	if n.schema != nil && n.schema.Deprecation != "" {
		c.report(syntax.Diagnostic{Severity: syntax.Warning, Range: r.Type.At, Summary: fmt.Sprintf("%s is deprecated", full), Hint: n.schema.Deprecation})
	}
}

// refusedType says why a type cannot be used in YAML (protocol.md 11.10), "" for others.
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

// function finds out what a function is, and checks what it gets.
func (c *checker) function(i *ast.Invoke) {
	found, full, ok := c.choose("function", i.Token, i.Options.Version, i.Options.PluginDownloadURL, (*schema.Package).ResolveFunction, (*schema.Package).FunctionTokens)
	if !ok {
		return
	}
	f := &function{token: full, packageRef: c.refs[comparableName(found.pkg)], schema: found.schema.Function(full)}
	c.functions[i] = f
	if f.schema == nil {
		return
	}
	what := "the function " + full
	var given []ast.ObjectEntry
	if o, ok := i.Args.(*ast.Object); ok {
		given = o.Entries
	}
	if i.Args == nil || given != nil {
		c.entries(given, i.Range(), what, f.schema.Inputs, f.schema.Required)
	}
	switch {
	case !i.Return.IsGiven():
	case f.schema.IsScalar:
		c.mistake(i.Return.At, "remove `return`", "%s returns one value, not an object with a property %q", what, i.Return.Value)
	case f.schema.Outputs != nil && f.schema.Outputs[i.Return.Value] == nil:
		c.unknownProperty(i.Return.At, i.Return.Value, "the result of "+what, f.schema.Outputs)
	}
}

// outputs checks that what a program reads of a resource exists.
func (c *checker) outputs(a *syntax.Access) {
	n := c.scope.find(a.Root)
	if n == nil || n.resource == nil || n.schema == nil || len(a.Steps) == 0 || a.Steps[0].IsIndex {
		return
	}
	name := a.Steps[0].Name
	if name == "id" || name == "urn" || n.schema.Outputs[name] != nil || len(n.schema.Outputs) == 0 {
		return
	}
	known := []string{"id", "urn"}
	for output := range n.schema.Outputs {
		known = append(known, output)
	}
	hint := syntax.Nearest(name, known)
	if hint == "" {
		hint = "it has: " + syntax.Some(known, 5)
	}
	c.mistake(a.Range, hint, "the resource %q, a %s, has no output %q", n.name, n.token, name)
}

// resource checks the properties of a resource.
func (c *checker) resource(n *node) {
	r := n.resource
	what := "the type " + n.token
	switch {
	case r.PropertiesExpr != nil:
	case r.Get != nil:
		both := map[string]*schema.Property{}
		for _, m := range []map[string]*schema.Property{n.schema.Outputs, n.schema.Inputs} {
			for name, p := range m {
				both[name] = p
			}
		}
		c.entries(entriesOf(r.Get.State), r.Get.At, what, both, nil)
	default:
		c.entries(entriesOf(r.Properties), r.Key.At, what, n.schema.Inputs, n.schema.Required)
	}
}
