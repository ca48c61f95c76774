package property

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// Map is an immutable object: property names to values. The zero Map is empty.
type Map struct{ o *object }

// object holds at least one property. It is behind a pointer, so that a [Value] holds it without another allocation.
type object struct {
	members members
}

// members are in ascending byte order of their distinct names: the order in which they are written, compared and walked.
type members []member

type member struct {
	name  string
	value Value
}

// NewMap copies m.
func NewMap(m map[string]Value) Map {
	list := make(members, 0, len(m))
	for name, v := range m {
		list = append(list, member{name, v})
	}
	return list.object()
}

// object makes a Map of members in any order, and takes ownership of them. Of several with one name the last counts.
func (list members) object() Map {
	if len(list) == 0 {
		return Map{}
	}
	for i := 1; i < len(list); i++ {
		if list[i-1].name >= list[i].name {
			list = list.sorted()
			break
		}
	}
	return Map{&object{list}}
}

func (list members) sorted() members {
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	out := list[:1]
	for _, e := range list[1:] {
		if last := len(out) - 1; out[last].name == e.name {
			out[last] = e
		} else {
			out = append(out, e)
		}
	}
	return out
}

func (m Map) members() members {
	if m.o == nil {
		return nil
	}
	return m.o.members
}

// find returns the index of a name, or the index at which to insert it.
func (list members) find(name string) (at int, ok bool) {
	const few = 8 // with fewer, a binary search is no faster
	if len(list) > few {
		return slices.BinarySearchFunc(list, name, func(e member, name string) int { return strings.Compare(e.name, name) })
	}
	for i := range list {
		if list[i].name >= name {
			return i, list[i].name == name
		}
	}
	return len(list), false
}

// Len returns the number of properties.
func (m Map) Len() int { return len(m.members()) }

// Get returns the value of a property and whether there is one.
func (m Map) Get(name string) (Value, bool) {
	list := m.members()
	i, ok := list.find(name)
	if !ok {
		return Null, false
	}
	return list[i].value, true
}

// At returns the value of a property, null when there is none.
func (m Map) At(name string) Value {
	v, _ := m.Get(name)
	return v
}

// Names returns the property names in ascending byte order.
func (m Map) Names() []string {
	var names []string
	for _, e := range m.members() {
		names = append(names, e.name)
	}
	return names
}

// All yields names and values in ascending byte order of the names.
func (m Map) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, e := range m.members() {
			if !yield(e.name, e.value) {
				return
			}
		}
	}
}

// With returns a copy of m in which name has value v. It costs a copy of the top level; build large maps with [NewMap].
func (m Map) With(name string, v Value) Map {
	list := m.members()
	at, ok := list.find(name)
	rest := list[at:]
	if ok {
		rest = rest[1:]
	}
	out := make(members, 0, at+1+len(rest))
	out = append(append(out, list[:at]...), member{name, v})
	return Map{&object{append(out, rest...)}}
}

// Without returns a copy of m that lacks the given names.
func (m Map) Without(names ...string) Map {
	return m.filter(func(name string, _ Value) bool { return !slices.Contains(names, name) })
}

// filter returns m with the properties for which keep returns true.
func (m Map) filter(keep func(name string, v Value) bool) Map {
	list := m.members()
	for i, e := range list {
		if keep(e.name, e.value) {
			continue
		}
		out := append(make(members, 0, len(list)-1), list[:i]...)
		for _, e := range list[i+1:] {
			if keep(e.name, e.value) {
				out = append(out, e)
			}
		}
		return out.object()
	}
	return m
}

// mapped returns m with f applied to each property; m itself if f changes none.
func (m Map) mapped(f func(name string, v Value) (Value, bool)) (Map, bool) {
	list := m.members()
	var out members
	for i, e := range list {
		v, changed := f(e.name, e.value)
		if changed && out == nil {
			out = slices.Clone(list)
		}
		if changed {
			out[i].value = v
		}
	}
	if out == nil {
		return m, false
	}
	return Map{&object{out}}, true
}

// Mutable returns a copy of the top level that the caller owns.
func (m Map) Mutable() map[string]Value {
	c := make(map[string]Value, m.Len())
	maps.Insert(c, m.All())
	return c
}

// SecretsAll returns m with every top-level property a secret: the form for the result of an Invoke that had a secret
// argument, from a provider that does not accept secrets ([protocol.md 2.4]).
//
// [protocol.md 2.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#24-providers-that-do-not-keep-secrets
func (m Map) SecretsAll() Map {
	out, _ := rewriteMap(m, func(v Value) (Value, bool) { return MakeSecret(v), !isSecret(v) })
	return out
}

// ReuseCiphertexts lets the secrets of m be written as the ciphertext of the equal secret at the same place in old, so
// that a program that registers an unchanged secret does not change the state file ([state.md 5.6]). It changes no value,
// only the stored ciphertexts, and is safe for concurrent use.
//
// [state.md 5.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#56-ciphertexts-that-stay
func (m Map) ReuseCiphertexts(old Map) {
	for k, v := range m.All() {
		if o, ok := old.Get(k); ok {
			reuseCiphertexts(v, o)
		}
	}
}

func reuseCiphertexts(v, old Value) {
	switch x := v.v.(type) {
	case *secret:
		o, ok := old.v.(*secret)
		if !ok || o == x {
			return
		}
		if c := o.sealed.Load(); c != nil && !c.opaque && Identical(x.element, o.element) {
			x.sealed.CompareAndSwap(nil, c)
		}
	case Map:
		if o, ok := old.v.(Map); ok {
			x.ReuseCiphertexts(o)
		}
	case Array:
		o, ok := old.v.(Array)
		for i := 0; ok && i < min(len(x.a), len(o.a)); i++ {
			reuseCiphertexts(x.a[i], o.a[i])
		}
	}
}

// DowngradeOutputs does that for every property.
func (m Map) DowngradeOutputs() Map {
	d, _ := rewriteMap(m, downgradeOutputs)
	return d
}

// DowngradeBareOutputs downgrades only the output values that name no resources, since an unknown, a secret or a plain
// value can express these. It is the form in which a Call's arguments travel.
func (m Map) DowngradeBareOutputs() Map {
	d, _ := rewriteMap(m, downgradeBareOutputs)
	return d
}

func downgradeBareOutputs(v Value) (Value, bool) {
	x, ok := v.v.(*Output)
	if !ok {
		return rewriteChildren(v, downgradeBareOutputs)
	}
	if len(x.Dependencies) > 0 {
		return v, false
	}
	return downgradeOutputs(v)
}

// LiftOutputs does that for every property.
func (m Map) LiftOutputs() Map {
	l, _ := rewriteMap(m, liftOutputs)
	return l
}

// WithDependencies returns m in which each property that has dependencies is an output value that lists them, joined
// with those that the property's own output value lists already.
func (m Map) WithDependencies(dependencies map[string][]urn.URN) Map {
	out, _ := m.mapped(func(name string, v Value) (Value, bool) {
		deps := dependencies[name]
		if len(deps) == 0 {
			return v, false
		}
		o, secretive := Output{Known: true, Dependencies: unionURNs(deps, nil)}, false
		if s, ok := v.v.(*secret); ok && !s.isOpaque() {
			secretive, v = true, s.element
		}
		o = mergeOutput(o, v)
		o.Secret = o.Secret || secretive
		return OutputOf(o), true
	})
	return out
}

// OutputDependencies returns, for each property that has any, the resources named by the output values in it; nil if none has any.
func (m Map) OutputDependencies() map[string][]urn.URN {
	if !anyInMap(m, hasDependencies) {
		return nil
	}
	out := map[string][]urn.URN{}
	for k, v := range m.All() {
		if deps := v.OutputDependencies(); len(deps) > 0 {
			out[k] = deps
		}
	}
	return out
}

// Lookup returns the value at p. It looks through secrets and known outputs. A wildcard has no single value: ok is
// false for it, as for a place that does not exist. The empty path leads to m itself.
func (m Map) Lookup(p Path) (v Value, ok bool) { return Of(m).Lookup(p) }

// Set returns m with the value at p replaced. It creates the last name and, at the end of an array, the last index, but
// no levels in between. A wildcard sets every existing place. ok is false when nothing was set; m comes back unchanged
// then. Secrets on the way stay secrets.
func (m Map) Set(p Path, v Value) (Map, bool) {
	out, ok := edit(Of(m), p, func(container Value, last Element) (Value, bool) { return setChild(container, last, v) })
	return out.AsMap(), ok && len(p) > 0
}

// Delete returns m without the value at p; later elements of an array move up. A wildcard deletes every existing
// place. ok is false when there was nothing to delete.
func (m Map) Delete(p Path) (Map, bool) {
	out, ok := edit(Of(m), p, deleteChild)
	return out.AsMap(), ok && len(p) > 0
}

// edit applies change to the container of each place that p leads to and rebuilds the values above it.
func edit(v Value, p Path, change func(container Value, last Element) (Value, bool)) (Value, bool) {
	if len(p) == 0 {
		return v, false
	}
	switch v.v.(type) {
	case *secret, *Output:
		return rewriteChildren(v, func(inner Value) (Value, bool) { return edit(inner, p, change) })
	}
	if len(p) == 1 {
		return change(v, p[0])
	}
	descend := func(c Value) (Value, bool) { return edit(c, p[1:], change) }
	if p[0].IsWildcard() {
		if v.IsMap() || v.IsArray() {
			return rewriteChildren(v, descend)
		}
		return v, false
	}
	c, ok := v.child(p[0])
	if !ok {
		return v, false
	}
	if c, ok = descend(c); !ok {
		return v, false
	}
	return setChild(v, p[0], c)
}

func deleteChild(container Value, e Element) (Value, bool) {
	switch x := container.v.(type) {
	case Map:
		if e.IsWildcard() && x.Len() > 0 {
			return Of(Map{}), true
		}
		if _, ok := x.Get(e.Key); ok && !e.IsIndex {
			return Of(x.Without(e.Key)), true
		}
	case Array:
		if e.IsWildcard() && len(x.a) > 0 {
			return Of(Array{}), true
		}
		if e.IsIndex && e.Index >= 0 && e.Index < len(x.a) {
			a := append(make([]Value, 0, len(x.a)), x.a[:e.Index]...)
			return Of(Array{append(a, x.a[e.Index+1:]...)}), true
		}
	}
	return container, false
}

// MapReferences returns m with every resource reference in it, at any depth, replaced by the result of f. Unchanged parts
// are shared with m, and m itself is returned if f changed nothing. A secret with a change inside is a new one, without
// the ciphertext of the old; sealed secrets cannot be opened and stay as they are.
func (m Map) MapReferences(f func(Reference) Reference) Map {
	out, _ := rewriteMap(m, referenceRewriter(f))
	return out
}

// StripSecretsAndOutputs does that for every property.
func (m Map) StripSecretsAndOutputs() Map {
	s, _ := rewriteMap(m, stripWrappers)
	return s
}

// StripSecrets does that for every property.
func (m Map) StripSecrets() Map {
	s, _ := rewriteMap(m, stripSecrets)
	return s
}

// String is [Value.String] for an object.
func (m Map) String() string { return Value{m}.String() }

// GoString is String.
func (m Map) GoString() string { return m.String() }

// MarshalJSON is [Value.MarshalJSON] for an object.
func (m Map) MarshalJSON() ([]byte, error) { return Value{m}.MarshalJSON() }

// UnmarshalJSON is [Value.UnmarshalJSON].
func (m *Map) UnmarshalJSON([]byte) error { return errUnmarshal }

// HasUnavailable reports whether any property is or contains such a value.
func (m Map) HasUnavailable() bool { return anyInMap(m, isUnavailable) }

// ReplaceUnavailable returns m with every value that [Unavailable] made, at any depth, replaced by the result of with for it and its
// reason.
func (m Map) ReplaceUnavailable(with func(v Value, why string) Value) Map {
	out, _ := rewriteMap(m, replacer(func(v Value) (Value, bool) {
		why, ok := v.IsUnavailable()
		if !ok {
			return v, false
		}
		return with(v, why), true
	}))
	return out
}

// ReplaceReferences returns m with each reference, at any depth, replaced by the value that with returns, if with also returns
// true.
func (m Map) ReplaceReferences(with func(r Reference) (Value, bool)) Map {
	out, _ := rewriteMap(m, replacer(func(v Value) (Value, bool) {
		if r, ok := v.v.(Reference); ok {
			return with(r)
		}
		return v, false
	}))
	return out
}

// WithoutDeep returns m without the properties of a name, in m itself and in objects at any depth.
func (m Map) WithoutDeep(name string) Map {
	var all rewriter
	all = replacer(func(v Value) (Value, bool) {
		object, ok := v.v.(Map)
		if !ok {
			return v, false
		}
		if _, found := object.Get(name); !found {
			return v, false
		}
		rest, _ := all(Of(object.Without(name)))
		return rest, true
	})
	out, _ := all(Of(m))
	return out.AsMap()
}

// FindUnknown returns the first value of m, in the order of names, that is not known, and its path. The values that count are those that may not
// leave an update: unknowns, outputs that are not known, and secrets without content. A reference does not count: one to a component has no ID, or one
// that is empty or unknown, as the program likes.
func (m Map) FindUnknown() (at Path, v Value, found bool) { return find(Of(m), isNotKnown) }

// FindUnavailable returns the first value of m, in the order of names, that [Unavailable] made, and its path.
func (m Map) FindUnavailable() (at Path, v Value, found bool) { return find(Of(m), isUnavailable) }

// IsKnown reports whether [Map.FindUnknown] finds nothing in m.
func (m Map) IsKnown() bool { return Of(m).IsKnown() }

// WithoutUnknowns returns m without the values that count for [Map.FindUnknown]. A property with such a value is left out,
// and so is a whole list.
func (m Map) WithoutUnknowns() Map {
	if m.IsKnown() {
		return m
	}
	out := make(map[string]Value, m.Len())
	for name, v := range m.All() {
		if kept, ok := v.WithoutUnknowns(); ok {
			out[name] = kept
		}
	}
	return NewMap(out)
}

// KnownOr returns m with each property that is not known, in whole or in part, replaced by the property of old if that is known, and dropped
// otherwise. It returns the names of both kinds, sorted.
func (m Map) KnownOr(old Map) (out Map, kept, dropped []string) {
	if m.IsKnown() {
		return m, nil, nil
	}
	all := make(map[string]Value, m.Len())
	for name, v := range m.All() {
		if v.IsKnown() {
			all[name] = v
			continue
		}
		if was, ok := old.Get(name); ok && was.IsKnown() {
			all[name], kept = was, append(kept, name)
			continue
		}
		dropped = append(dropped, name)
	}
	return NewMap(all), kept, dropped
}

// HasUnknowns reports whether any property is or contains an unknown; see [Value.HasUnknowns].
func (m Map) HasUnknowns() bool { return anyInMap(m, isUnknown) }

// HasSealed reports whether a value in m is sealed.
func (m Map) HasSealed() bool { return anyInMap(m, Value.IsSealed) }

// HasSecrets reports whether any property is or contains a secret.
func (m Map) HasSecrets() bool { return anyInMap(m, isSecret) }

// DropUnknowns returns m without the top-level properties that are or contain unknowns: the form for programs that do
// not accept partly known values ([protocol.md 4.4]).
//
// [protocol.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#44-the-answer
func (m Map) DropUnknowns() Map {
	return m.filter(func(_ string, v Value) bool { return !v.HasUnknowns() })
}

// WithoutInternal returns m without its internal top-level properties; see [IsInternalName].
func (m Map) WithoutInternal() Map {
	return m.filter(func(name string, _ Value) bool { return !IsInternalName(name) })
}

func referenceRewriter(f func(Reference) Reference) rewriter {
	var rewrite rewriter
	rewrite = func(v Value) (Value, bool) {
		old, ok := v.v.(Reference)
		if !ok {
			return rewriteChildren(v, rewrite)
		}
		now := f(old)
		if now.URN == old.URN && now.PackageVersion == old.PackageVersion && Identical(now.ID, old.ID) {
			return v, false
		}
		return Value{now}, true
	}
	return rewrite
}
