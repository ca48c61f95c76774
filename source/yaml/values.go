package yaml

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// peeled is a value without the wrappers around it, and what they said.
type peeled struct {
	inner  property.Value // unknown when it is not known
	secret bool
	deps   []urn.URN
}

// peel removes the wrappers around a value, not those inside it.
func peel(v property.Value) peeled {
	p := peeled{inner: v}
	for {
		switch {
		case p.inner.IsSecret():
			p.secret, p.inner = true, p.inner.AsSecret()
		case p.inner.IsOutput():
			o := p.inner.AsOutput()
			p.secret = p.secret || o.Secret
			p.deps = union(p.deps, o.Dependencies)
			if p.inner = o.Element; !o.Known {
				p.inner = property.Computed()
			}
		default:
			return p
		}
	}
}

// wrap puts the wrappers back around another value.
func (p peeled) wrap(v property.Value) property.Value {
	q := peel(v)
	secret, deps := p.secret || q.secret, union(p.deps, q.deps)
	switch {
	case len(deps) > 0:
		o := property.Output{Known: !q.inner.IsUnknown(), Secret: secret, Dependencies: deps}
		if o.Known {
			o.Element = q.inner
		}
		return property.OutputOf(o)
	case secret:
		return property.Secret(q.inner)
	}
	return q.inner
}

// union is the sorted set of both.
func union(a, b []urn.URN) []urn.URN {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// flat is a value that a function needs all of: without any wrapper, at any depth. What the wrappers said holds for the
// whole.
func flat(v property.Value) (plain property.Value, p peeled) {
	plain = v.StripSecretsAndOutputs()
	p = peeled{secret: v.HasSecrets(), deps: v.OutputDependencies()}
	if plain.HasUnknowns() {
		plain = property.Computed()
	}
	p.inner = plain
	return plain, p
}

// describe names what a value is, for messages.
func describe(v property.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsBool():
		return "a boolean"
	case v.IsNumber():
		return "a number"
	case v.IsString():
		return "a string"
	case v.IsArray():
		return "a list"
	case v.IsMap():
		return "an object"
	case v.IsAsset():
		return "an asset"
	case v.IsArchive():
		return "an archive"
	case v.IsReference():
		return "a resource"
	}
	return "an unknown value"
}

// toGo is a plain value as Go programs have it. ok is false when there is something in it that is no data.
func toGo(v property.Value) (out any, ok bool) {
	switch {
	case v.IsNull():
		return nil, true
	case v.IsBool():
		return v.AsBool(), true
	case v.IsNumber():
		return v.AsNumber(), true
	case v.IsString():
		return v.AsString(), true
	case v.IsArray():
		list := make([]any, 0, v.AsArray().Len())
		for _, item := range v.AsArray().All() {
			x, ok := toGo(item)
			if !ok {
				return nil, false
			}
			list = append(list, x)
		}
		return list, true
	case v.IsMap():
		m := map[string]any{}
		for name, item := range v.AsMap().All() {
			x, ok := toGo(item)
			if !ok {
				return nil, false
			}
			m[name] = x
		}
		return m, true
	}
	return nil, false
}

// text is a plain value as it stands in an interpolated string (protocol.md 11.6). ok is false for what has no text.
func text(v property.Value) (s string, ok bool) {
	if v.IsString() {
		return v.AsString(), true
	}
	x, ok := toGo(v)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%v", x), true
}
