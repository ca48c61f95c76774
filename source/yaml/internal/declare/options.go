package declare

import (
	"slices"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/eval"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// options puts the options of a resource into its registration (protocol.md 11.4).
type options struct {
	evaluator *eval.Evaluator
	report    *syntax.Report
	node      *bind.Node
	schema    *schema.Resource
	request   *stages.RegisterRequest
	dependsOn []urn.URN
	first     error
}

// failed keeps the first error, and reports whether err is one.
func (o *options) failed(err error) bool {
	if err != nil && o.first == nil {
		o.first = err
	}
	return err != nil
}

func (o *options) apply() error {
	given, req := &o.node.Resource.Options, o.request
	req.AdditionalSecretOutputs = given.AdditionalSecretOutputs
	req.IgnoreChanges, req.ReplaceOnChanges, req.HideDiffs = given.IgnoreChanges, given.ReplaceOnChanges, given.HideDiffs
	req.DeleteBeforeReplace, req.RetainOnDelete = given.DeleteBeforeReplace.Pointer(), given.RetainOnDelete.Pointer()
	o.aliases(given.Aliases)
	req.CustomTimeouts = stages.CustomTimeouts{
		Create: o.timeout(given.Create, "create"), Update: o.timeout(given.Update, "update"), Delete: o.timeout(given.Delete, "delete"),
		Read: o.timeout(given.Read, "read"),
	}
	o.protect(given.Protect)
	for _, r := range o.resources(given.DependsOn, "dependsOn") {
		o.dependsOn = append(o.dependsOn, r.URN)
	}
	for _, r := range o.resources(given.ReplaceWith, "replaceWith") {
		req.ReplaceWith = append(req.ReplaceWith, r.URN)
	}
	if r := o.resource(given.Parent, "parent"); r != nil {
		req.Parent = r.URN
	}
	if r := o.resource(given.DeletedWith, "deletedWith"); r != nil {
		req.DeletedWith = r.URN
	}
	o.providers()
	if given.ReplacementTrigger != nil {
		v, err := o.evaluator.Eval(given.ReplacementTrigger)
		if !o.failed(err) {
			req.ReplacementTrigger = v.DowngradeOutputs()
			o.dependsOn = values.Union(o.dependsOn, v.OutputDependencies())
		}
	}
	o.environment(given.EnvVarMappings)
	o.ofSchema()
	return o.first
}

// ofSchema adds the options that the schema defines for all resources of the type.
func (o *options) ofSchema() {
	s := o.schema
	if s == nil {
		return
	}
	o.request.AdditionalSecretOutputs = slices.Concat(o.request.AdditionalSecretOutputs, s.SecretOutputs())
	o.request.ReplaceOnChanges = slices.Concat(o.request.ReplaceOnChanges, s.ReplacePaths())
	for _, token := range s.Aliases {
		o.request.Aliases = append(o.request.Aliases, urn.Alias{Type: urn.Type(token)})
	}
}

func (o *options) resource(x ast.Expr, what string) *eval.Resource {
	r, err := o.evaluator.Resource(x, what)
	o.failed(err)
	return r
}

func (o *options) resources(x ast.Expr, what string) []*eval.Resource {
	rs, err := o.evaluator.Resources(x, what)
	o.failed(err)
	return rs
}

// known evaluates an option whose value must be known already.
func (o *options) known(x ast.Expr, what, wanted string, is func(property.Value) bool) (property.Value, bool) {
	v, err := o.evaluator.Eval(x)
	if o.failed(err) {
		return property.Null, false
	}
	plain, _ := values.UnmarkDeep(v)
	switch {
	case plain.IsUnknown():
		o.failed(o.report.Fail(x.Range(), "", "`%s` must be known before anything is changed, and this is an output of a resource", what))
	case !is(plain):
		o.failed(o.report.Fail(x.Range(), "", "`%s` must be %s, not %s", what, wanted, values.Describe(plain)))
	default:
		return plain, true
	}
	return property.Null, false
}

func (o *options) timeout(x ast.Expr, name string) string {
	if x == nil {
		return ""
	}
	v, _ := o.known(x, "customTimeouts."+name, "a string such as \"5m\"", property.Value.IsString)
	return v.AsString()
}

func (o *options) protect(x ast.Expr) {
	if x == nil {
		return
	}
	if v, err := o.evaluator.Eval(x); err == nil && len(v.OutputDependencies()) > 0 {
		o.failed(o.report.Fail(x.Range(), "", "`protect` must be known before anything is changed, and this is an output of a resource"))
		return
	}
	if v, ok := o.known(x, "protect", "true or false", property.Value.IsBool); ok {
		protect := v.AsBool()
		o.request.Protect = &protect
	}
}

// providers sets the providers: that of the options, or the default provider of the package.
func (o *options) providers() {
	given := &o.node.Resource.Options
	set := func(r *eval.Resource, at syntax.Range, what string) {
		if r == nil {
			return
		}
		if !r.Type.IsProvider() {
			o.failed(o.report.Fail(at, "", "`%s` must be a provider, a resource of a type like pulumi:providers:aws, not a %s", what, r.Type))
			return
		}
		pkg := r.Type.ProviderPackage()
		if what == "provider" && pkg == o.request.Package.Name {
			o.request.Provider = r.ProviderRef()
			if !o.request.Remote {
				return
			}
		}
		if o.request.Providers == nil {
			o.request.Providers = map[string]string{}
		}
		o.request.Providers[pkg] = r.ProviderRef()
	}
	if given.Provider != nil {
		set(o.resource(given.Provider, "provider"), given.Provider.Range(), "provider")
	} else if n := o.node.DefaultProvider; n != nil {
		p, err := o.evaluator.Made(n)
		if o.failed(err) {
			return
		}
		set(p, n.At, "provider")
	}
	for _, r := range o.resources(given.Providers, "providers") {
		set(r, given.Providers.Range(), "providers")
	}
}

func (o *options) environment(x ast.Expr) {
	if x == nil {
		return
	}
	v, ok := o.known(x, "envVarMappings", "an object of strings", property.Value.IsMap)
	if !ok {
		return
	}
	o.request.EnvVarMappings = map[string]string{}
	for name, item := range v.AsMap().All() {
		if !item.IsString() {
			o.failed(o.report.Fail(x.Range(), "", "`envVarMappings` must be an object of strings, and %q is %s", name, values.Describe(item)))
		}
		o.request.EnvVarMappings[name] = item.AsString()
	}
}

// aliases evaluates a list of URNs and of objects with the changed parts of a URN.
func (o *options) aliases(x ast.Expr) {
	list, ok := x.(*ast.List)
	if !ok {
		return
	}
	for _, item := range list.Items {
		if object, ok := item.(*ast.Object); ok {
			o.request.Aliases = append(o.request.Aliases, o.alias(object))
			continue
		}
		v, ok := o.known(item, "aliases", "a list of URNs and objects", property.Value.IsString)
		if ok {
			o.request.Aliases = append(o.request.Aliases, urn.Alias{URN: o.urn(item, v.AsString())})
		}
	}
}

// urn checks a URN in the program.
func (o *options) urn(x ast.Expr, text string) urn.URN {
	u, err := urn.Parse(text)
	if err != nil {
		o.failed(o.report.Fail(x.Range(), "", "%v", err))
	}
	return u
}

func (o *options) alias(x *ast.Object) urn.Alias {
	var a urn.Alias
	known := []string{"urn", "name", "type", "parent", "noParent", "stack", "project"}
	for _, entry := range x.Entries {
		key, _ := entry.Key.(*ast.Literal)
		if key == nil || !slices.Contains(known, key.Value.AsString()) {
			o.failed(o.report.Fail(entry.Key.Range(), "it may have: "+syntax.Some(known, len(known)), "an alias has no such field"))
			continue
		}
		name := key.Value.AsString()
		switch name {
		case "noParent":
			v, _ := o.known(entry.Value, name, "true or false", property.Value.IsBool)
			a.NoParent = v.AsBool()
			continue
		case "parent":
			o.aliasParent(&a, entry.Value)
			continue
		}
		v, ok := o.known(entry.Value, name, "a string", property.Value.IsString)
		if !ok {
			continue
		}
		switch text := v.AsString(); name {
		case "urn":
			a.URN = o.urn(entry.Value, text)
		case "name":
			a.Name = text
		case "type":
			a.Type = urn.Type(text)
		case "stack":
			a.Stack = text
		case "project":
			a.Project = text
		}
	}
	if a.NoParent && a.Parent != "" {
		o.failed(o.report.Fail(x.Range(), "remove one of them", "an alias with `noParent` has no `parent`"))
	}
	return a
}

// aliasParent evaluates the former parent of a resource: a resource or a URN.
func (o *options) aliasParent(a *urn.Alias, x ast.Expr) {
	v, err := o.evaluator.Eval(x)
	if o.failed(err) {
		return
	}
	if inner, _ := values.Unmark(v); inner.IsString() {
		a.Parent = o.urn(x, inner.AsString())
		return
	}
	r, err := o.evaluator.ResourceIn(x, v, "parent")
	if !o.failed(err) {
		a.Parent = r.URN
	}
}
