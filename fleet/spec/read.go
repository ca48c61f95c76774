package spec

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
)

// FileName is the name of the file that describes a fleet.
const FileName = "fleet.yaml"

// MistakesError lists the mistakes in a file, with their places.
type MistakesError struct {
	Count int
	Text  string // each mistake with its line
}

func (e *MistakesError) Error() string { return e.Text }

// Read reads and validates the file at path. values override variables. For a file with mistakes it returns a [*MistakesError] with
// all of them.
func Read(path string, values map[string]string) (*Fleet, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w; a fleet is described by a file %s, `sluice fleet --help` says how", err, FileName)
	}
	root, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return parse(path, string(text), root, values)
}

func parse(name, text, root string, values map[string]string) (*Fleet, error) {
	file, node, found := syntax.Parse(name, text)
	r := &reader{file: file, found: found, root: root}
	var f *Fleet
	if !found.HasErrors() {
		f = r.document(node, values)
	}
	r.found.Sort()
	if r.found.HasErrors() {
		return nil, &MistakesError{Count: r.found.Errors(), Text: r.found.ErrorText(file)}
	}
	return f, nil
}

// reader collects the mistakes in one file.
type reader struct {
	file      *syntax.File
	found     syntax.Diagnostics
	root      string
	variables map[string]string
}

func (r *reader) fail(at syntax.Range, hint, format string, args ...any) {
	r.found.Add(syntax.Diagnostic{Severity: syntax.Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// start is the place of mistakes about missing parts of the whole file.
var start = syntax.Range{Line: 1, Column: 1, End: 2}

func (r *reader) document(n *syntax.Node, values map[string]string) *Fleet {
	if n == nil {
		r.fail(start, "", "the file is empty: a fleet has a name and stacks")
		return nil
	}
	fields := r.fields(n, "a fleet", "name", "variables", "concurrency", "limits", "key", "groups", "stacks", "schedules")
	r.variables = r.texts(fields["variables"], "a variable")
	if r.variables == nil {
		r.variables = map[string]string{}
	}
	for name, value := range values {
		if _, declared := r.variables[name]; !declared {
			r.fail(start, syntax.Nearest(name, slices.Collect(maps.Keys(r.variables))), "there is no variable %q to be set", name)
		}
		r.variables[name] = value
	}
	f := &Fleet{Root: r.root, Concurrency: defaultConcurrency, Name: r.checked(fields["name"], "the name of a fleet", safeName)}
	if f.Name == "" && fields["name"] == nil && n.Kind == syntax.Object {
		r.fail(n.Range, "write name: and a name of letters and digits", "the fleet has no name")
	}
	if c := fields["concurrency"]; c != nil {
		f.Concurrency = r.count(c, "concurrency")
	}
	limits := map[string]LimitEntry{}
	r.each(fields["limits"], "limits", func(key, value *syntax.Node) { limits[key.Text] = r.limit(key, value) })
	f.Limits = map[string]int{}
	for name, l := range limits {
		f.Limits[name] = l.Stacks
	}
	f.Key = r.key(fields["key"])
	groups := map[string]GroupEntry{}
	r.each(fields["groups"], "groups", func(key, value *syntax.Node) {
		groups[key.Text] = r.group(r.fields(value, "a group", groupFields...), f.Limits)
	})
	b := &builder{reader: r, fleet: f, groups: groups, limits: limits}
	r.each(fields["stacks"], "stacks", b.entry)
	if n.Kind == syntax.Object && len(f.Stacks) == 0 && !r.found.HasErrors() {
		r.fail(n.Range, "write stacks: and the stacks by name", "the fleet has no stacks")
	}
	b.resolve()
	r.each(fields["schedules"], "schedules", b.schedule)
	return f
}

// limit reads a limit: a number of stacks, or an object.
func (r *reader) limit(key, n *syntax.Node) LimitEntry {
	if n.Kind == syntax.Number {
		return LimitEntry{Stacks: r.count(n, "a limit")}
	}
	fields := r.fields(n, "a limit", "stacks", "changes")
	l := LimitEntry{Stacks: 1}
	if s := fields["stacks"]; s != nil {
		l.Stacks = r.count(s, "a limit")
	} else if n.Kind == syntax.Object {
		r.fail(key.Range, "write stacks: and how many are worked on at once", "the limit %q does not say of how many stacks", key.Text)
	}
	if c := fields["changes"]; c != nil {
		l.Changes = r.count(c, "changes")
	}
	return l
}

// key reads the encrypted key.
func (r *reader) key(n *syntax.Node) *KeyEntry {
	if n == nil || n.Kind == syntax.Null {
		return nil
	}
	fields := r.fields(n, "a key", "provider", "salt", "encryptedKey", "sealed")
	k := &KeyEntry{
		Provider: r.text(fields["provider"], "the provider of a key"), Salt: r.text(fields["salt"], "the salt of a key"),
		EncryptedKey: r.text(fields["encryptedKey"], "an encrypted data key"), Sealed: r.text(fields["sealed"], "a sealed key"),
	}
	if k.Provider == "" || k.Sealed == "" || (k.Salt == "") == (k.EncryptedKey == "") {
		r.fail(n.Range, "`sluice fleet key --secrets-provider` prints one", "the key is incomplete: it needs a provider, a salt or an encryptedKey, and sealed")
	}
	return k
}

var groupFields = []string{"queue", "stack", "needs", "limits", "approve", "environment", "config"}

func (r *reader) group(fields map[string]*syntax.Node, limits map[string]int) GroupEntry {
	g := GroupEntry{
		Queue: r.checked(fields["queue"], "the name of a queue", safeName),
		Stack: r.given(fields["stack"], "the name of a stack", stackName),
		Needs: r.list(fields["needs"], "needs"), Config: r.texts(fields["config"], "a setting"),
		Limits: r.list(fields["limits"], "limits"), Approve: r.list(fields["approve"], "approve"), Environment: r.list(fields["environment"], "environment"),
	}
	for i, name := range g.Environment {
		if !variableName.MatchString(name) {
			r.fail(itemRange(fields["environment"], i), "write NAME, or BEGINNING*", "%q cannot be the name of a variable", name)
		}
	}
	r.among(fields["limits"], g.Limits, slices.Collect(maps.Keys(limits)), "limit", "limits: at the top of the file has them")
	r.among(fields["approve"], g.Approve, []string{"up", "destroy", "refresh"}, "operation that can be approved", "")
	for _, e := range entries(fields["config"]) {
		if !settingName.MatchString(e.Key.Text) {
			r.fail(e.Key.Range, "write namespace:name or name", "%q cannot be the name of a setting", e.Key.Text)
		}
	}
	return g
}

func entries(n *syntax.Node) []syntax.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// among refuses elements of a list that are not known ones.
func (r *reader) among(n *syntax.Node, list, known []string, what, hint string) {
	for i, name := range list {
		if !slices.Contains(known, name) {
			near := syntax.Nearest(name, known)
			if near == "" {
				near = hint
			}
			r.fail(itemRange(n, i), near, "there is no %s %q", what, name)
		}
	}
}

func itemRange(n *syntax.Node, i int) syntax.Range {
	if i < len(n.Items) {
		return n.Items[i].Range
	}
	return n.Range
}

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
