package property

import (
	"iter"
	"maps"
	"slices"
	"strings"
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
