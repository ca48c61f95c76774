package ast

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/internal/text/syntax"
)

// reader reads the nodes of one file, and collects the mistakes in it.
type reader struct {
	file        *syntax.File
	diagnostics syntax.Diagnostics
}

func (r *reader) fail(at syntax.Range, hint, format string, args ...any) {
	r.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *reader) warn(at syntax.Range, hint, format string, args ...any) {
	r.diagnostics.Add(syntax.Diagnostic{Severity: syntax.Warning, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// fields returns the entries of an object with known names, ignoring case. what is the object's name in messages. It
// warns about unknown names.
func (r *reader) fields(n *syntax.Node, what string, known ...string) map[string]*syntax.Node {
	return r.fieldsAmong(n, what, func(key *syntax.Node) {
		r.warn(key.Range, hint(key, known), "%s has no field %q; it is ignored", what, key.Text)
	}, known)
}

// onlyFields is like fields, but an unknown name is an error. It is for objects where a misspelt name changes what is made.
func (r *reader) onlyFields(n *syntax.Node, what string, known ...string) map[string]*syntax.Node {
	return r.fieldsAmong(n, what, func(key *syntax.Node) { r.refuse(key, what, known) }, known)
}

// refuse fails because of an unknown name of a field.
func (r *reader) refuse(key *syntax.Node, what string, known []string) {
	r.fail(key.Range, hint(key, known), "%s has no field %q", what, key.Text)
}

// hint names the known field that an unknown one was probably meant to be, or all of them.
func hint(key *syntax.Node, known []string) string {
	if near := syntax.Nearest(key.Text, known); near != "" {
		return near
	}
	return "it may have: " + syntax.Some(known, len(known))
}

// fieldsAmong is like fields, for objects that may have other fields too. It passes their keys to other.
func (r *reader) fieldsAmong(n *syntax.Node, what string, other func(key *syntax.Node), known []string) map[string]*syntax.Node {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		r.fail(n.Range, "", "%s must be an object, not %v", what, n.Kind)
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
			r.fail(e.Key.Range, "", "%s has the field %q twice", what, name)
			continue
		case !exact:
			r.warn(e.Key.Range, "", "the field %q is spelled %q", e.Key.Text, name)
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
func (r *reader) text(n *syntax.Node, what string) Text {
	if n == nil || n.Kind == syntax.Null {
		return Text{}
	}
	if n.Kind != syntax.String {
		hint := ""
		if n.Kind == syntax.Number || n.Kind == syntax.Bool {
			hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		}
		r.fail(n.Range, hint, "%s must be a string, not %v", what, n.Kind)
		return Text{}
	}
	parts, diagnostic := r.file.Interpolate(n.Text, n.Range)
	if diagnostic != nil {
		r.diagnostics.Add(*diagnostic)
		return Text{}
	}
	value := ""
	for _, part := range parts {
		if part.Access != nil {
			r.fail(part.Access.Range, "", "%s must be written out: it is needed before anything is evaluated", what)
			return Text{}
		}
		value += part.Text
	}
	return Text{Value: value, At: n.Range}
}

// flag reads a boolean that must be written out.
func (r *reader) flag(n *syntax.Node, what string) Flag {
	if n == nil || n.Kind == syntax.Null {
		return Flag{}
	}
	if n.Kind != syntax.Bool {
		r.fail(n.Range, "", "%s must be true or false, not %v", what, n.Kind)
		return Flag{}
	}
	return Flag{Value: n.Bool, At: n.Range}
}

// texts reads a list of strings that must be written out.
func (r *reader) texts(n *syntax.Node, what string) []string {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.List {
		r.fail(n.Range, "", "%s must be a list of strings, not %v", what, n.Kind)
		return nil
	}
	var out []string
	for _, item := range n.Items {
		if item.Kind == syntax.Null { // an empty path would stand for the whole resource
			r.fail(item.Range, "", "each element of %s must be a string, not %v", what, item.Kind)
			continue
		}
		out = append(out, r.text(item, "each element of "+what).Value)
	}
	return out
}

// entries returns the entries of an object whose keys are names.
func (r *reader) entries(n *syntax.Node, what string) []syntax.Entry {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		r.fail(n.Range, "", "%s must be an object, not %v", what, n.Kind)
		return nil
	}
	return n.Entries
}

// version reads a version, which must be written out.
func (r *reader) version(n *syntax.Node) Text {
	t := r.text(n, "`version`")
	if t.Value == "" {
		return Text{}
	}
	v, err := semver.NewVersion(t.Value)
	if err != nil {
		r.fail(t.At, "write it like 4.5.6", "%q is not a version", t.Value)
		return Text{}
	}
	t.Value = v.String()
	return t
}

// key returns the key of an entry as a text, without interpolation.
func key(n *syntax.Node) Text { return Text{Value: n.Text, At: n.Range} }
