package ast

import (
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
)

// optional is like expr, and returns nil for null.
func (p *parser) optional(n *syntax.Node) Expr {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	return p.expr(n)
}

func (p *parser) expr(n *syntax.Node) Expr {
	at := place{n.Range}
	switch n.Kind {
	case syntax.Bool:
		return &Literal{at, property.Bool(n.Bool)}
	case syntax.Number:
		return &Literal{at, property.Number(n.Number)}
	case syntax.String:
		return p.interpolated(n)
	case syntax.List:
		list := &List{place: at}
		for _, item := range n.Items {
			list.Items = append(list.Items, p.expr(item))
		}
		return list
	case syntax.Object:
		return p.object(n)
	}
	return &Literal{at, property.Null}
}

// interpolated reads a string: a literal, a single value, or text with values in it.
func (p *parser) interpolated(n *syntax.Node) Expr {
	at := place{n.Range}
	parts, diagnostic := p.file.Interpolate(n.Text, n.Range)
	switch {
	case diagnostic != nil:
		p.diagnostics.Add(*diagnostic)
	case len(parts) == 0:
		return &Literal{at, property.String("")}
	case len(parts) == 1 && parts[0].Access == nil:
		return &Literal{at, property.String(parts[0].Text)}
	case len(parts) == 1 && parts[0].Text == "":
		return &Symbol{at, parts[0].Access}
	default:
		return &Interpolation{at, parts}
	}
	return &Literal{at, property.Null}
}

const functionPrefix = "fn::"

// functionEntry returns the entry of an object that is a call, nil for other objects.
func functionEntry(n *syntax.Node) *syntax.Entry {
	if len(n.Entries) != 1 || !strings.HasPrefix(strings.ToLower(n.Entries[0].Key.Text), functionPrefix) {
		return nil
	}
	return &n.Entries[0]
}

func (p *parser) object(n *syntax.Node) Expr {
	if call := functionEntry(n); call != nil {
		if e := p.call(n, call); e != nil {
			return e
		}
	}
	o := &Object{place: place{n.Range}}
	for _, e := range n.Entries {
		name := e.Key.Text
		if len(n.Entries) > 1 && isFunction(name) {
			p.fail(e.Key.Range, "", "%s must stand in an object of its own", name)
		}
		o.Entries = append(o.Entries, ObjectEntry{Key: p.expr(e.Key), Value: p.expr(e.Value)})
	}
	return o
}

// version reads a version, which must be written out.
func (p *parser) version(n *syntax.Node) Text {
	t := p.text(n, "`version`")
	if t.Value == "" {
		return Text{}
	}
	v, err := semver.NewVersion(t.Value)
	if err != nil {
		p.fail(t.At, "write it like 4.5.6", "%q is not a version", t.Value)
		return Text{}
	}
	t.Value = v.String()
	return t
}
