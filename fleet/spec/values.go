package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/syntax"
)

// fields returns the entries of an object with known names. what is the object in messages.
func (r *reader) fields(n *syntax.Node, what string, known ...string) map[string]*syntax.Node {
	out := map[string]*syntax.Node{}
	if n == nil || n.Kind == syntax.Null {
		return out
	}
	if n.Kind != syntax.Object {
		r.fail(n.Range, "it may have: "+strings.Join(known, ", "), "%s must be an object, not %v", what, n.Kind)
		return out
	}
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) {
			hint := syntax.Nearest(e.Key.Text, known)
			if hint == "" {
				hint = "it may have: " + strings.Join(known, ", ")
			}
			r.fail(e.Key.Range, hint, "%s has no field %q", what, e.Key.Text)
			continue
		}
		out[e.Key.Text] = e.Value
	}
	return out
}

// each calls f with the entries of an object whose keys are names.
func (r *reader) each(n *syntax.Node, what string, f func(key, value *syntax.Node)) {
	switch {
	case n == nil || n.Kind == syntax.Null:
	case n.Kind != syntax.Object:
		r.fail(n.Range, "write a name, a colon and a value", "%s must be an object, not %v", what, n.Kind)
	default:
		for _, e := range n.Entries {
			if why := safeName(e.Key.Text); why != "" {
				r.fail(e.Key.Range, "", "%q cannot be a name in %s: %s", e.Key.Text, what, why)
				continue
			}
			f(e.Key, e.Value)
		}
	}
}

// text reads a string and replaces the variables in it.
func (r *reader) text(n *syntax.Node, what string) string {
	if n == nil || n.Kind == syntax.Null {
		return ""
	}
	if n.Kind != syntax.String {
		hint := ""
		if n.Kind == syntax.Number || n.Kind == syntax.Bool {
			hint = fmt.Sprintf("put it in quotes: %q", n.Text)
		}
		r.fail(n.Range, hint, "%s must be a string, not %v", what, n.Kind)
		return ""
	}
	parts, mistake := r.file.Interpolate(n.Text, n.Range)
	if mistake != nil {
		r.found.Add(*mistake)
		return ""
	}
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
		if part.Access == nil {
			continue
		}
		value, known := r.variables[part.Access.String()]
		if !known {
			names := make([]string, 0, len(r.variables))
			for name := range r.variables {
				names = append(names, name)
			}
			hint := syntax.Nearest(part.Access.String(), names)
			if hint == "" {
				hint = "variables: at the top of the file has them; write $${ for the characters themselves"
			}
			r.fail(part.Access.Range, hint, "there is no variable %q", part.Access.String())
		}
		b.WriteString(value)
	}
	return b.String()
}

// checked reads a string, and reports the mistake that wrong finds in it.
func (r *reader) checked(n *syntax.Node, what string, wrong func(string) string) string {
	text := r.text(n, what)
	if text == "" {
		return ""
	}
	if why := wrong(text); why != "" {
		r.fail(n.Range, "", "%q cannot be %s: %s", text, what, why)
		return ""
	}
	return text
}

// refused replaces a wrong text, so that it is not reported as missing. A valid fleet does not contain it.
const refused = "(refused)"

// given is like checked, but returns [refused] for a wrong text.
func (r *reader) given(n *syntax.Node, what string, wrong func(string) string) string {
	before := r.found.Errors()
	text := r.checked(n, what, wrong)
	if r.found.Errors() > before {
		return refused
	}
	return text
}

// list reads a list of strings, or one string.
func (r *reader) list(n *syntax.Node, what string) []string {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.List {
		r.fail(n.Range, "write [a, b]", "%s must be a list of names, not %v", what, n.Kind)
		return nil
	}
	var out []string
	for _, item := range n.Items {
		out = append(out, r.text(item, "a name in "+what))
	}
	return out
}

// texts reads an object of strings. It accepts numbers and booleans as they are written.
func (r *reader) texts(n *syntax.Node, what string) map[string]string {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	if n.Kind != syntax.Object {
		r.fail(n.Range, "write a name, a colon and a text", "this must be an object of texts, not %v", n.Kind)
		return nil
	}
	out := map[string]string{}
	for _, e := range n.Entries {
		if e.Value.Kind == syntax.Number || e.Value.Kind == syntax.Bool {
			out[e.Key.Text] = e.Value.Text
			continue
		}
		out[e.Key.Text] = r.text(e.Value, what)
	}
	return out
}

// count reads a whole number that is at least 1.
func (r *reader) count(n *syntax.Node, what string) int {
	if n.Kind != syntax.Number || n.Number < 1 || n.Number != float64(int(n.Number)) {
		r.fail(n.Range, "write a whole number from 1 on", "%s must be a number of stacks", what)
		return 1
	}
	return int(n.Number)
}
