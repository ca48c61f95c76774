package yaml

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// options puts the options of a resource into its registration (protocol.md 11.4).
type options struct {
	*evaluation
	node      *node
	request   *stages.RegisterRequest
	dependsOn []urn.URN
	first     error
}

// failed remembers the first error, and tells whether there is one.
func (o *options) failed(err error) bool {
	if err != nil && o.first == nil {
		o.first = err
	}
	return err != nil
}

func (o *options) apply() error {
	given, req := &o.node.resource.Options, o.request
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
		o.dependsOn = append(o.dependsOn, r.urn)
	}
	for _, r := range o.resources(given.ReplaceWith, "replaceWith") {
		req.ReplaceWith = append(req.ReplaceWith, r.urn)
	}
	if r := o.resource(given.Parent, "parent"); r != nil {
		req.Parent = r.urn
	}
	if r := o.resource(given.DeletedWith, "deletedWith"); r != nil {
		req.DeletedWith = r.urn
	}
	o.providers()
	if given.ReplacementTrigger != nil {
		v, err := o.eval(given.ReplacementTrigger)
		if !o.failed(err) {
			req.ReplacementTrigger = v.DowngradeOutputs()
		}
	}
	o.environment(given.EnvVarMappings)
	o.ofSchema()
	return o.first
}

// ofSchema adds what the package says about all resources of the type.
func (o *options) ofSchema() {
	s := o.node.schema
	if s == nil {
		return
	}
	o.request.AdditionalSecretOutputs = slices.Concat(o.request.AdditionalSecretOutputs, s.SecretOutputs())
	o.request.ReplaceOnChanges = slices.Concat(o.request.ReplaceOnChanges, s.ReplacePaths())
	for _, token := range s.Aliases {
		o.request.Aliases = append(o.request.Aliases, urn.Alias{Type: urn.Type(token)})
	}
}

func (o *options) resource(x ast.Expr, what string) *resource {
	if x == nil {
		return nil
	}
	v, err := o.eval(x)
	if o.failed(err) {
		return nil
	}
	r, err := o.resourceIn(x, v, what)
	o.failed(err)
	return r
}

func (o *options) resources(x ast.Expr, what string) []*resource {
	if x == nil {
		return nil
	}
	rs, err := o.resourcesIn(x, what)
	o.failed(err)
	return rs
}

// known evaluates an option that must be known now.
func (o *options) known(x ast.Expr, what, wanted string, is func(property.Value) bool) (property.Value, bool) {
	v, err := o.eval(x)
	if o.failed(err) {
		return property.Null, false
	}
	plain, _ := flat(v)
	switch {
	case plain.IsUnknown():
		o.failed(o.fail(x.Range(), "", "`%s` must be known before anything is changed, and this is an output of a resource", what))
	case !is(plain):
		o.failed(o.fail(x.Range(), "", "`%s` must be %s, not %s", what, wanted, describe(plain)))
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
	if v, err := o.eval(x); err == nil && len(v.OutputDependencies()) > 0 {
		o.failed(o.fail(x.Range(), "", "`protect` must be known before anything is changed, and this is an output of a resource"))
		return
	}
	if v, ok := o.known(x, "protect", "true or false", property.Value.IsBool); ok {
		protect := v.AsBool()
		o.request.Protect = &protect
	}
}

// providers sets the providers: an explicit one, or the default provider of the package.
func (o *options) providers() {
	given := &o.node.resource.Options
	set := func(r *resource, at syntax.Range, what string) {
		if r == nil {
			return
		}
		if !r.typ.IsProvider() {
			o.failed(o.fail(at, "", "`%s` must be a provider, a resource of a type like pulumi:providers:aws, not a %s", what, r.typ))
			return
		}
		pkg := r.typ.ProviderPackage()
		if what == "provider" && pkg == o.request.Package.Name {
			o.request.Provider = r.providerRef()
			if !o.request.Remote {
				return
			}
		}
		if o.request.Providers == nil {
			o.request.Providers = map[string]string{}
		}
		o.request.Providers[pkg] = r.providerRef()
	}
	if given.Provider != nil {
		set(o.resource(given.Provider, "provider"), given.Provider.Range(), "provider")
	} else if p := o.node.defaultProvider; p != nil {
		if p.poisoned {
			o.failed(errPoisoned)
			return
		}
		set(p.made, p.at, "provider")
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
			o.failed(o.fail(x.Range(), "", "`envVarMappings` must be an object of strings, and %q is %s", name, describe(item)))
		}
		o.request.EnvVarMappings[name] = item.AsString()
	}
}

// aliases reads a list of URNs and of objects that say what was different.
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

// urn checks a URN that the program gives.
func (o *options) urn(x ast.Expr, text string) urn.URN {
	u, err := urn.Parse(text)
	if err != nil {
		o.failed(o.fail(x.Range(), "", "%v", err))
	}
	return u
}

func (o *options) alias(x *ast.Object) urn.Alias {
	var a urn.Alias
	known := []string{"urn", "name", "type", "parent", "noParent", "stack", "project"}
	for _, entry := range x.Entries {
		key, _ := entry.Key.(*ast.Literal)
		if key == nil || !slices.Contains(known, key.Value.AsString()) {
			o.failed(o.fail(entry.Key.Range(), "it may have: "+syntax.Some(known, len(known)), "an alias has no such field"))
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
	return a
}

// aliasParent reads the parent that a resource had: a resource or a URN.
func (o *options) aliasParent(a *urn.Alias, x ast.Expr) {
	v, err := o.eval(x)
	if o.failed(err) {
		return
	}
	switch p := peel(v); {
	case p.inner.IsString():
		a.Parent = o.urn(x, p.inner.AsString())
	default:
		r, err := o.resourceIn(x, v, "parent")
		if !o.failed(err) {
			a.Parent = r.urn
		}
	}
}
