package ast

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
)

// Expr is an expression: a *[Literal], *[Interpolation], *[Symbol], *[List], *[Object], *[Call] or *[Invoke].
type Expr interface {
	Range() syntax.Range
}

type place struct{ at syntax.Range }

// Range returns the place of the expression.
func (p place) Range() syntax.Range { return p.at }

// Literal is a value that the program writes out.
type Literal struct {
	place
	Value property.Value
}

// Interpolation is a string with values in it.
type Interpolation struct {
	place
	Parts []syntax.Part
}

// Symbol is a string that consists of one "${...}": it has the value's type.
type Symbol struct {
	place
	Access *syntax.Access
}

// List is a list of expressions.
type List struct {
	place
	Items []Expr
}

// Object is an object whose keys may be interpolated too.
type Object struct {
	place
	Entries []ObjectEntry
}

// ObjectEntry is one entry of an object.
type ObjectEntry struct{ Key, Value Expr }

// Call is a call of a function of the language. Args has as many elements as the function takes.
type Call struct {
	place
	Function string // as Pulumi writes it: "fn::join"
	Args     []Expr
}

// Invoke is a call of a function of a package.
type Invoke struct {
	place
	Token   Text
	Args    Expr // nil when there are none
	Return  Text
	Options InvokeOptions
}

// Mention returns the function that is called.
func (i *Invoke) Mention() Mention {
	return Mention{i.Token, i.Options.Version, i.Options.PluginDownloadURL, i.Options.Provider}
}

// InvokeOptions are the options of a call of a package's function.
type InvokeOptions struct {
	Parent, Provider, DependsOn Expr
	Version, PluginDownloadURL  Text
}

// Text is a string that must be written out. The zero Text means that none is given.
type Text struct {
	Value string
	At    syntax.Range
}

// IsGiven reports whether the program gives the text.
func (t Text) IsGiven() bool { return !t.At.IsZero() }

// Flag is a boolean that must be written out.
type Flag struct {
	Value bool
	At    syntax.Range // zero when it is not given
}

// IsGiven reports whether the program gives the flag.
func (f Flag) IsGiven() bool { return !f.At.IsZero() }

// Pointer returns the flag as an option of a registration.
func (f Flag) Pointer() *bool {
	if !f.IsGiven() {
		return nil
	}
	return &f.Value
}

// Walk calls visit for e and every expression in it, the outer ones first. e may be nil.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch e := e.(type) {
	case *List:
		for _, item := range e.Items {
			Walk(item, visit)
		}
	case *Object:
		for _, entry := range e.Entries {
			Walk(entry.Key, visit)
			Walk(entry.Value, visit)
		}
	case *Call:
		for _, a := range e.Args {
			Walk(a, visit)
		}
	case *Invoke:
		for _, in := range []Expr{e.Args, e.Options.Parent, e.Options.Provider, e.Options.DependsOn} {
			Walk(in, visit)
		}
	}
}

// Accesses calls visit for every "${...}" in e.
func Accesses(e Expr, visit func(*syntax.Access)) {
	Walk(e, func(e Expr) {
		switch e := e.(type) {
		case *Symbol:
			visit(e.Access)
		case *Interpolation:
			for _, p := range e.Parts {
				if p.Access != nil {
					visit(p.Access)
				}
			}
		}
	})
}

// NewText returns a text as an expression.
func NewText(t Text) *Literal { return &Literal{place{t.At}, property.String(t.Value)} }
