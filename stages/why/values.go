package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on the kept part of one value.
const (
	maxText     = 200 // characters
	maxElements = 20  // of arrays and objects, at all depths
)

// A Viewer turns values into the form of a [Log], without secrets, and does so for other writers of values.
type Viewer struct {
	// IsSensitive reports whether a text contains a secret that is not marked as one. nil means that no text does.
	IsSensitive func(string) bool
	Texts       int // the number of characters that are kept of one text; 0 is that of a log
	Elements    int // the number of elements that are kept of arrays and objects, at all depths; 0 is that of a log
}

// Pair returns the values of a place in two objects in the form of a log: JSON, nil if there is none. If the place is in both and
// one value contains a secret, both are masked.
func (v Viewer) Pair(old, new property.Map, at property.Path) (was, is json.RawMessage) {
	_, had := old.Lookup(at)
	if _, has := new.Lookup(at); had && has {
		return v.pairAt(old, new, at)
	}
	return v.shownAt(old, at), v.shownAt(new, at)
}

// Differing is one place at which two objects differ, with its values in the form of a log.
type Differing struct {
	comparison.Difference
	Old, New json.RawMessage // nil for nothing
}

// Differences returns the places at which the values of a property differ, as they are shown to people, with the values in the form
// of a log. A secret is one place, and so is a value that is sensitive as a whole. If there are more places than most, it returns
// false.
func (v Viewer) Differences(old, new property.Map, at property.Path, most int) ([]Differing, bool) {
	was, _ := old.Lookup(at)
	is, _ := new.Lookup(at)
	all, ok := comparison.Differences(at, was, is, most, func(x property.Value) bool {
		return isSecret(x) || x.IsString() && v.IsSensitive != nil && v.IsSensitive(x.AsString())
	})
	out := make([]Differing, len(all))
	for i, d := range all {
		out[i].Difference = d
		switch {
		case d.Was.IsNull() || d.Is.IsNull() || !d.Was.HasSecrets() && !d.Is.HasSecrets():
			out[i].Old, out[i].New = v.both(d.Was, d.Is)
		default:
			out[i].Old, out[i].New = encoded(mask(d.Was)), encoded(mask(d.Is))
		}
	}
	return out, ok
}

// Place returns the name of the place: "policy (JSON) Statement[0].Effect".
func (d Differing) Place() string { return place(d.Path().String(), d.Format, d.Within.String()) }

func place(path, format, within string) string {
	if format == "" {
		return path
	}
	return strings.TrimRight(path+" ("+format+") "+within, " ")
}

// text returns the kept part of a text. A sensitive one is masked as a whole, before it is cut.
func (v Viewer) text(s string) string { return cut(v.masked(s), v.room()) }

// masked returns a text, unless it is sensitive.
func (v Viewer) masked(s string) string {
	if v.IsSensitive != nil && v.IsSensitive(s) {
		return secretText
	}
	return s
}

// room returns the number of characters that are kept of one text.
func (v Viewer) room() int { return cmp.Or(v.Texts, maxText) }

const (
	secretText  = "[secret]"
	unknownText = "[unknown]"
)

// shownAt returns the kept part of the value at a place, nil if there is none.
func (v Viewer) shownAt(m property.Map, at property.Path) json.RawMessage {
	if isSecretAt(m, at) {
		return encoded(secretText)
	}
	x, ok := m.Lookup(at)
	if !ok {
		return nil
	}
	return v.shown(x)
}

// pairAt returns the kept parts of a place before and after. A secret on one side makes the other one secret too: often it is the
// same value that is no longer marked.
func (v Viewer) pairAt(old, new property.Map, at property.Path) (was, is json.RawMessage) {
	if hasSecretsAt(old, at) || hasSecretsAt(new, at) {
		return masked(old, at), masked(new, at)
	}
	x, had := old.Lookup(at)
	y, has := new.Lookup(at)
	if !had || !has {
		return v.shownAt(old, at), v.shownAt(new, at)
	}
	return v.both(x, y)
}

// both returns the kept parts of two values, neither of which has secrets.
func (v Viewer) both(x, y property.Value) (was, is json.RawMessage) {
	if was, is, ok := v.longTexts(x, y); ok {
		return encoded(cut(was, v.room())), encoded(cut(is, v.room()))
	}
	return v.shown(x), v.shown(y)
}

// keptBefore is about how many bytes of the common part of two long texts are kept in front of the difference.
const keptBefore = 40

// longTexts returns two texts from a little before the first difference on, if otherwise only their common part would be kept.
func (v Viewer) longTexts(x, y property.Value) (was, is string, ok bool) {
	x, _ = x.Unwrap()
	y, _ = y.Unwrap()
	was, is = x.AsString(), y.AsString()
	n := 0
	for n < len(was) && n < len(is) && was[n] == is[n] {
		n++
	}
	if n <= v.room()/2 || max(len(was), len(is)) <= v.room() || v.IsSensitive != nil && (v.IsSensitive(was) || v.IsSensitive(is)) {
		return "", "", false
	}
	for n -= keptBefore; n > 0 && !utf8.RuneStart(was[n]); n-- {
	}
	return "…" + was[n:], "…" + is[n:], true
}

func hasSecretsAt(m property.Map, at property.Path) bool {
	x, _ := m.Lookup(at)
	return isSecretAt(m, at) || x.HasSecrets()
}

func masked(m property.Map, at property.Path) json.RawMessage {
	if isSecretAt(m, at) {
		return encoded(secretText)
	}
	x, ok := m.Lookup(at)
	if !ok {
		return nil
	}
	return encoded(mask(x))
}

// mask returns the text in place of a value that is secret or whose counterpart is. An unknown value gives nothing away, and SDKs may send one
// without its mark, so that it is not known to be the same.
func mask(x property.Value) string {
	if inner, secret := x.Unwrap(); inner.IsUnknown() && !secret && !x.IsSealed() {
		return unknownText
	}
	return secretText
}

// isSecretAt reports whether a place is, or lies within, a secret.
func isSecretAt(m property.Map, at property.Path) bool {
	for i := 1; i <= len(at); i++ {
		v, ok := m.Lookup(at[:i])
		if !ok {
			return false
		}
		if isSecret(v) {
			return true
		}
	}
	return false
}

func isSecret(v property.Value) bool {
	if v.IsSealed() {
		return true
	}
	inner, secret := v.Unwrap()
	return secret || inner.IsSealed()
}

// shown returns the kept part of a value, nil for null.
func (v Viewer) shown(x property.Value) json.RawMessage {
	if x.IsNull() {
		return nil
	}
	left := cmp.Or(v.Elements, maxElements)
	plain, ok := v.plainOf(x, &left)
	if !ok {
		plain = sizeOf(x)
	}
	return encoded(plain)
}

func encoded(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // there are only texts, numbers, lists and maps
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// plainOf returns a value in the types of encoding/json. It fails if the value is too large.
func (v Viewer) plainOf(x property.Value, left *int) (plain any, ok bool) {
	if isSecret(x) {
		return secretText, true
	}
	inner, _ := x.Unwrap()
	switch {
	case inner.IsNull():
		return nil, true
	case inner.IsUnknown():
		return unknownText, true
	case inner.IsBool():
		return inner.AsBool(), true
	case inner.IsNumber():
		return inner.AsNumber(), true
	case inner.IsString():
		return v.text(inner.AsString()), true
	case inner.IsReference():
		return string(inner.AsReference().URN), true
	case inner.IsArray():
		out := make([]any, 0, inner.AsArray().Len())
		for _, e := range inner.AsArray().All() {
			if *left--; *left < 0 {
				return nil, false
			}
			p, ok := v.plainOf(e, left)
			if !ok {
				return nil, false
			}
			out = append(out, p)
		}
		return out, true
	case inner.IsMap():
		out := make(map[string]any, inner.AsMap().Len())
		for name, e := range inner.AsMap().All() {
			if *left--; *left < 0 {
				return nil, false
			}
			if out[name], ok = v.plainOf(e, left); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return sizeOf(inner), true
}

// optionOf returns the value of an option as JSON, nil if it is not set.
func (v Viewer) optionOf(r *state.Resource, name string) json.RawMessage {
	switch name {
	case "additionalSecretOutputs":
		return v.textsOf(r.AdditionalSecretOutputs)
	case "deletedWith":
		return v.textOf(string(r.DeletedWith))
	case "dependencies":
		return v.textsOf(dependenciesOf(r))
	case "hideDiffs":
		return v.textsOf(r.HideDiff)
	case "ignoreChanges":
		return v.textsOf(r.IgnoreChanges)
	case "import":
		return v.textOf(r.ImportID)
	case "name":
		return v.textOf(string(r.URN))
	case "parent":
		return v.textOf(string(r.Parent))
	case "protect":
		return encoded(r.Protect)
	case "provider":
		return v.textOf(r.Provider)
	case "replaceOnChanges":
		return v.textsOf(r.ReplaceOnChanges)
	case "replaceWith":
		return v.textsOf(namesOf(r.ReplaceWith))
	case "replacementTrigger":
		return v.shown(r.ReplacementTrigger)
	case "retainOnDelete":
		return encoded(r.RetainOnDelete)
	}
	return nil
}

func (v Viewer) textOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return encoded(v.text(s))
}

func (v Viewer) textsOf(list []string) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	out := make([]property.Value, len(list))
	for i, s := range list {
		out[i] = property.String(s)
	}
	return v.shown(property.ArrayOf(out...))
}

func namesOf(us []urn.URN) []string {
	out := make([]string, len(us))
	for i, u := range us {
		out[i] = string(u)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// dependenciesOf lists all dependencies that the program declares for a state, of any property or none.
func dependenciesOf(r *state.Resource) []string {
	var us []urn.URN
	for ref := range r.References() {
		if ref.Kind == graph.Dependency || ref.Kind == graph.PropertyDependency {
			us = append(us, ref.URN)
		}
	}
	return namesOf(us)
}

// sizeOf describes a value that is not shown.
func sizeOf(v property.Value) string {
	inner, _ := v.Unwrap()
	switch {
	case inner.IsArray():
		return fmt.Sprintf("[%d elements]", inner.AsArray().Len())
	case inner.IsMap():
		return fmt.Sprintf("[%d properties]", inner.AsMap().Len())
	case inner.IsAsset():
		a := inner.AsAsset()
		return blob("asset", a.Path+a.URI, a.Hash)
	case inner.IsArchive():
		a := inner.AsArchive()
		return blob("archive", a.Path+a.URI, a.Hash)
	}
	return "[value]"
}

func blob(what, where, hash string) string {
	if where != "" {
		what += " " + cut(where, maxText)
	}
	if len(hash) >= 7 {
		what += " " + hash[:7]
	}
	return "[" + what + "]"
}

func cut(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// equalAt compares a place in two objects, ignoring secret marks.
func equalAt(a, b property.Map, at property.Path) bool {
	x, _ := a.Lookup(at)
	y, _ := b.Lookup(at)
	return property.Equal(x.StripSecretsAndOutputs(), y.StripSecretsAndOutputs())
}

// isHidden reports whether the program hides the changes of a place.
func isHidden(patterns []string, at property.Path) bool {
	return slices.ContainsFunc(patterns, func(text string) bool {
		p, err := property.ParsePath(text)
		return err == nil && len(p) > 0 && p.Contains(at)
	})
}

// Position converts a recorded source position, "project:///src/index.ts#14,3", into its usual form: "src/index.ts:14".
func Position(recorded string) string {
	file, place, _ := strings.Cut(strings.TrimPrefix(recorded, "project:///"), "#")
	line, _, _ := strings.Cut(place, ",")
	if line == "" {
		return file
	}
	return file + ":" + line
}
