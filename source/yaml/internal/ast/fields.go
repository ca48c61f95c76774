package ast

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

// parser collects the mistakes in one program.
type parser struct {
	file        *syntax.File
	diagnostics syntax.Diagnostics
}

func (p *parser) fail(at syntax.Range, hint, format string, args ...any) {
	p.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *parser) warn(at syntax.Range, hint, format string, args ...any) {
	p.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Warning, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// fields returns the entries of an object with known names, ignoring case. what is the object's name in messages. It
// warns about unknown names.
func (p *parser) fields(n *syntax.Node, what string, known ...string) map[string]*syntax.Node {
	return p.fieldsAmong(n, what, func(key *syntax.Node) {
		hint := syntax.Nearest(key.Text, known)
		if hint == "" {
			hint = "it may have: " + syntax.Some(known, len(known))
		}
		p.warn(key.Range, hint, "%s has no field %q; it is ignored", what, key.Text)
	}, known)
}

// fieldsAmong is like fields, for objects that may have other fields too. It passes their keys to other.
func (p *parser) fieldsAmong(n *syntax.Node, what string, other func(key *syntax.Node), known []string) map[string]*syntax.Node {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		p.fail(n.Range, "", "%s must be an object, not %v", what, n.Kind)
		return nil
	}
	out := map[string]*syntax.Node{}
	for _, e := range n.Entries {
		name, exact := match(e.Key.Text, known)
		switch {
		case name == "":
			other(e.Key)
			continue
		case out[name] != nil:
			p.fail(e.Key.Range, "", "%s has the field %q twice", what, name)
			continue
		case !exact:
			p.warn(e.Key.Range, "", "the field %q is spelled %q", e.Key.Text, name)
		}
		out[name] = e.Value
	}
	return out
}

func match(name string, known []string) (canonical string, exact bool) {
	for _, k := range known {
		if k == name {
			return k, true
		}
		if strings.EqualFold(k, name) {
			canonical = k
		}
	}
	return canonical, false
}

// text reads a string that must be written out.
func (p *parser) text(n *syntax.Node, what string) Text {
	if n == nil || n.Kind == syntax.Null {
		return Text{}
	}
	if n.Kind != syntax.String {
		hint := ""
		if n.Kind == syntax.Number || n.Kind == syntax.Bool {
			hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		}
		p.fail(n.Range, hint, "%s must be a string, not %v", what, n.Kind)
		return Text{}
	}
	parts, diagnostic := p.file.Interpolate(n.Text, n.Range)
	if diagnostic != nil {
		p.diagnostics.Add(*diagnostic)
		return Text{}
	}
	value := ""
	for _, part := range parts {
		if part.Access != nil {
			p.fail(part.Access.Range, "", "%s must be written out: it is needed before anything is evaluated", what)
			return Text{}
		}
		value += part.Text
	}
	return Text{Value: value, At: n.Range}
}

// flag reads a boolean that must be written out.
func (p *parser) flag(n *syntax.Node, what string) Flag {
	if n == nil || n.Kind == syntax.Null {
		return Flag{}
	}
	if n.Kind != syntax.Bool {
		p.fail(n.Range, "", "%s must be true or false, not %v", what, n.Kind)
		return Flag{}
	}
	return Flag{Value: n.Bool, At: n.Range}
}

// texts reads a list of strings that must be written out.
func (p *parser) texts(n *syntax.Node, what string) []string {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.List {
		p.fail(n.Range, "", "%s must be a list of strings, not %v", what, n.Kind)
		return nil
	}
	var out []string
	for _, item := range n.Items {
		out = append(out, p.text(item, "each element of "+what).Value)
	}
	return out
}

// key returns the key of an entry as a text, without interpolation.
func key(n *syntax.Node) Text { return Text{Value: n.Text, At: n.Range} }
