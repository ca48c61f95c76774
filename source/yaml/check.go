package yaml

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
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
	c := &checker{evaluation: e, directory: newDirectory(e), lenient: e.isLenient(), open: map[*node]bool{}}
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
	*directory
	lenient bool
	open    map[*node]bool // whose kind is being found out
}

// mistake reports something that is wrong about types.
func (c *checker) mistake(at syntax.Range, hint, format string, args ...any) {
	d := syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint}
	if c.lenient {
		d.Severity = syntax.Warning
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
	found, ok := c.find(typeMember, mentionOf(r))
	if !ok {
		return
	}
	if isOldDocker(r.Type.Value, found.schema.Version) {
		c.report(syntax.Diagnostic{Severity: syntax.Error, Range: r.Type.At, Hint: "use version 4 or later of the package docker",
			Summary: fmt.Sprintf("YAML programs cannot use the type %s of version %s of its package", r.Type.Value, found.schema.Version)})
		return
	}
	full := found.token
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
	found, ok := c.find(functionMember, mentionIn(i))
	if !ok {
		return
	}
	full := found.token
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
