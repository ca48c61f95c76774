package ast

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/urn"
)

// Template is a program.
type Template struct {
	File            *syntax.File
	Name            string
	RequiredVersion Expr // of the command line; nil if any will do
	Config          []*Config
	Variables       []*Named
	Resources       []*Resource
	Outputs         []*Named
}

// Mentions calls visit for every type of a resource and every function, in the order of evaluation: resources, variables,
// outputs.
func (t *Template) Mentions(visit func(Mention)) {
	invokes := func(e Expr) {
		Walk(e, func(e Expr) {
			if i, ok := e.(*Invoke); ok && i.Token.IsGiven() {
				visit(i.Mention())
			}
		})
	}
	for _, r := range t.Resources {
		visit(r.Mention())
		for _, e := range r.Exprs() {
			invokes(e)
		}
	}
	for _, v := range slices.Concat(t.Variables, t.Outputs) {
		invokes(v.Value)
	}
}

// Named is a variable or an output.
type Named struct {
	Name  Text
	Value Expr
}

// Config is one entry of the configuration.
type Config struct {
	Key       Text
	Type      Text
	ItemsType Text // of the elements of an "array"
	Name      Text // the key to look up; the entry's own by default
	Secret    Flag
	Default   Expr // nil when there is none
}

// Lookup returns the key under which the value is looked up.
func (c *Config) Lookup() string {
	if c.Name.Value != "" {
		return c.Name.Value
	}
	return c.Key.Value
}

// Resource is a resource.
type Resource struct {
	Key             Text
	Type            Text
	Name            Text
	DefaultProvider Flag
	Properties      []Property // if they are written out
	PropertiesAt    syntax.Range
	PropertiesExpr  Expr // if they are one expression
	Get             *Get // nil unless the resource is only read
	Options         Options
}

// LogicalName returns the name under which the resource is registered.
func (r *Resource) LogicalName() string {
	if r.Name.Value != "" {
		return r.Name.Value
	}
	return r.Key.Value
}

// Property is one property of a resource, or of the state of a resource to read.
type Property struct {
	Name  Text
	Value Expr
}

// Get names the object to read.
type Get struct {
	ID    Expr
	State []Property
	At    syntax.Range
}

// Options are the options of a resource (protocol.md 11.4).
type Options struct {
	AdditionalSecretOutputs, IgnoreChanges, ReplaceOnChanges, HideDiffs []string
	Aliases                                                             Expr
	Create, Update, Delete, Read                                        Expr // custom timeouts
	DeleteBeforeReplace, RetainOnDelete                                 Flag
	Protect                                                             Expr
	DependsOn, ReplaceWith                                              Expr
	Parent, DeletedWith                                                 Expr
	Provider, Providers                                                 Expr
	Import, Version, PluginDownloadURL                                  Text
	ReplacementTrigger, EnvVarMappings                                  Expr
}

// Exprs returns the expressions of a resource, in a fixed order. Some may be nil.
func (r *Resource) Exprs() []Expr {
	var all []Expr
	for _, p := range r.Properties {
		all = append(all, p.Value)
	}
	all = append(all, r.PropertiesExpr)
	if r.Get != nil {
		all = append(all, r.Get.ID)
		for _, p := range r.Get.State {
			all = append(all, p.Value)
		}
	}
	o := &r.Options
	return append(all, o.Aliases, o.Create, o.Update, o.Delete, o.Read, o.Protect, o.DependsOn, o.ReplaceWith, o.Parent, o.DeletedWith,
		o.Provider, o.Providers, o.ReplacementTrigger, o.EnvVarMappings)
}

// Mention returns the resource's type.
func (r *Resource) Mention() Mention {
	return Mention{r.Type, r.Options.Version, r.Options.PluginDownloadURL, r.Options.Provider}
}

// Mention is a use of a token in a program: the type of a resource or a function, with the options that concern its package.
type Mention struct {
	Token        Text
	Version, URL Text
	Provider     Expr // nil unless the program names one
}

// PackageOf returns the package whose plugin has a type or a function.
func PackageOf(token string) string {
	if t := urn.Type(token); t.IsProvider() {
		return t.ProviderPackage()
	}
	name, _, _ := strings.Cut(token, ":")
	return name
}

// Parse reads a program. The template is nil when there are errors.
func Parse(name, text string) (*Template, *syntax.File, syntax.Diagnostics) {
	file, root, diagnostics := syntax.Parse(name, text)
	if diagnostics.HasErrors() {
		return nil, file, diagnostics
	}
	p := newParser(file, diagnostics)
	t := p.template(root)
	p.read.diagnostics.Sort()
	if p.read.diagnostics.HasErrors() {
		return nil, file, p.read.diagnostics
	}
	return t, file, p.read.diagnostics
}
