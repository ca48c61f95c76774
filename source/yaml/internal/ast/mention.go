package ast

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// Mention is a use of a token in a program: the type of a resource or a function, with the options that concern its package.
type Mention struct {
	Token        Text
	Version, URL Text
	Provider     Expr // nil unless the program names one
}

// Mention returns the resource's type.
func (r *Resource) Mention() Mention {
	return Mention{r.Type, r.Options.Version, r.Options.PluginDownloadURL, r.Options.Provider}
}

// Mention returns the function that is called.
func (i *Invoke) Mention() Mention {
	return Mention{i.Token, i.Options.Version, i.Options.PluginDownloadURL, i.Options.Provider}
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

// PackageOf returns the package whose plugin has a type or a function.
func PackageOf(token string) string {
	if t := urn.Type(token); t.IsProvider() {
		return t.ProviderPackage()
	}
	name, _, _ := strings.Cut(token, ":")
	return name
}
