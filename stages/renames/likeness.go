package renames

import (
	"crypto/sha256"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// Limits.
const (
	// minLikeness is the fraction of the inputs that must be equal.
	minLikeness = 0.75
	// minOnlyLikeness is that fraction for the only delete and the only create of a type.
	minOnlyLikeness = 0.5
	// maxLeaves is the number of values of two resources that are compared.
	maxLeaves = 1000
	// maxText is the length in bytes up to which texts are searched for names.
	maxText = 4 << 10
)

// likenessOf returns the likeness of a deleted and a created resource, and whether it is sufficient.
func likenessOf(d, c *candidate) (likeness, bool) {
	t := tallyOf(d, c)
	if t.all == 0 {
		t.all, t.equal = 1, 1 // there is no difference
	}
	l := likeness{inputs: t.equal / t.all, names: namesInCommon(d.URN.Name(), c.URN.Name())}
	return l, l.inputs >= minLikeness
}

// isLikely reports whether the only resource of a type that is to be created may be the only one that is to be deleted.
func isLikely(d, c *candidate) bool {
	t := tallyOf(d, c)
	return t.known > 0 && t.equal/t.all >= minOnlyLikeness
}

// tally counts equal values among all.
type tally struct {
	equal, all float64
	known      int // values that are known to be equal
}

func tallyOf(d, c *candidate) tally {
	t := tally{}
	t.resources(d, c, nil)
	return t
}

func (t *tally) count(equal float64) {
	t.equal += equal
	t.all++
	if equal == 1 {
		t.known++
	}
}

// names are the former and the new name of a resource, or of one that contains it.
type names struct{ was, is string }

// resources compares the inputs of two resources and those of the resources in them.
func (t *tally) resources(d, c *candidate, around []names) {
	around = append([]names{{d.URN.Name(), c.URN.Name()}}, around...)
	t.maps(d.Inputs, c.Inputs, around)
	children := map[string][]*candidate{}
	for _, child := range c.children {
		key := string(child.Type) + " " + nameless(child.URN.Name(), c.URN.Name())
		children[key] = append(children[key], child)
	}
	left := len(c.children)
	for _, child := range d.children {
		key := string(child.Type) + " " + nameless(child.URN.Name(), d.URN.Name())
		if len(children[key]) == 0 {
			t.count(0)
			continue
		}
		t.count(1)
		if t.all < maxLeaves {
			t.resources(child, children[key][0], around)
		}
		children[key] = children[key][1:]
		left--
	}
	t.all += float64(left)
}

func (t *tally) maps(was, is property.Map, around []names) {
	for name, v := range was.All() {
		if !property.IsInternalName(name) {
			t.values(v, is.At(name), around)
		}
	}
	for name, v := range is.All() {
		if _, known := was.Get(name); !known && !property.IsInternalName(name) && !v.IsNull() {
			t.count(0)
		}
	}
}

func (t *tally) values(was, is property.Value, around []names) {
	if t.all >= maxLeaves {
		return
	}
	was, wasSecret := was.Unwrap()
	is, isSecret := is.Unwrap()
	const unclear = 0.5 // equal or not
	switch {
	case wasSecret || isSecret || was.IsSealed() || is.IsSealed():
		if wasSecret == isSecret {
			t.count(unclear)
		} else {
			t.count(0)
		}
	case was.IsNull() || is.IsNull():
		if !was.IsNull() || !is.IsNull() {
			t.count(0)
		}
	case was.IsUnknown() || is.IsUnknown():
		t.count(unclear)
	case was.IsMap() && is.IsMap():
		t.maps(was.AsMap(), is.AsMap(), around)
	case was.IsArray() && is.IsArray():
		t.arrays(was.AsArray(), is.AsArray(), around)
	case was.IsString() && is.IsString() && sameText(was.AsString(), is.AsString(), around), property.Equal(was, is):
		t.count(1)
	default:
		t.count(0)
	}
}

func (t *tally) arrays(was, is property.Array, around []names) {
	var others []property.Value
	for _, v := range is.All() {
		others = append(others, v)
	}
	for i, v := range was.All() {
		if i < len(others) {
			t.values(v, others[i], around)
		}
	}
	for range max(was.Len()-is.Len(), is.Len()-was.Len()) {
		t.count(0)
	}
}

// sameText reports whether two texts differ at most in the names of the resources, as "logs" and "logs-1f0e9d8", a name that a
// provider has generated.
func sameText(was, is string, around []names) bool {
	if was == is {
		return true
	}
	if len(was) > maxText || len(is) > maxText {
		return false
	}
	for _, n := range around {
		was, is = nameless(was, n.was), nameless(is, n.is)
	}
	return was == is || madeUp.MatchString(was) && madeUp.MatchString(is)
}

const placeholder = "\x00"

// madeUp matches a name that begins with that of the resource and ends with something random.
var madeUp = regexp.MustCompile(`^\x00[-_]?[0-9a-zA-Z]{4,16}$`)

// nameless returns a text with a name in it replaced.
func nameless(text, name string) string {
	if len(name) < 2 { // it occurs in almost every text
		if text == name {
			return placeholder
		}
		return text
	}
	return strings.ReplaceAll(text, name, placeholder)
}

// namesInCommon returns the part of two names that is equal, at their beginning and at their end.
func namesInCommon(a, b string) float64 {
	shortest := min(len(a), len(b))
	before := 0
	for before < shortest && a[before] == b[before] {
		before++
	}
	after := 0
	for after < shortest-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	return float64(before+after) / float64(max(len(a), len(b), 1))
}

// fingerprint is equal for resources whose inputs differ at most in names. A resource has none if a value is unknown or secret, or
// if it contains other resources.
func fingerprint(c *candidate) (print [32]byte, ok bool) {
	inputs := c.Inputs.WithoutInternal()
	if inputs.HasUnknowns() || inputs.HasSecrets() || len(c.children) > 0 {
		return print, false
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(plain(property.Of(inputs), c.URN.Name())); err != nil {
		return print, false
	}
	return [32]byte(h.Sum(nil)), true
}

// plain returns a value without secrets in the types of encoding/json.
func plain(v property.Value, name string) any {
	v, _ = v.Unwrap()
	switch {
	case v.IsMap():
		out := map[string]any{}
		for k, e := range v.AsMap().All() {
			if !e.IsNull() {
				out[k] = plain(e, name)
			}
		}
		return out
	case v.IsArray():
		out := []any{}
		for _, e := range v.AsArray().All() {
			out = append(out, plain(e, name))
		}
		return out
	case v.IsString() && len(v.AsString()) <= maxText:
		text := nameless(v.AsString(), name)
		if madeUp.MatchString(text) {
			text = placeholder
		}
		return text
	case v.IsString():
		return v.AsString()
	case v.IsBool():
		return v.AsBool()
	case v.IsNumber():
		return v.AsNumber()
	case v.IsAsset():
		return []string{"asset", v.AsAsset().Hash}
	case v.IsArchive():
		return []string{"archive", v.AsArchive().Hash}
	case v.IsReference():
		return []string{"reference", string(v.AsReference().URN)}
	}
	return nil
}
