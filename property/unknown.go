package property

import "slices"

// Unavailable returns a secret whose content is not available, such as an output of another stack that cannot be decrypted. It counts as
// unknown. why is a sentence without a full stop that says what the value is and how to get it.
func Unavailable(why string) Value { return sealedSecret(Computed(), &sealed{opaque: true, why: why}) }

// IsUnavailable reports whether v was made by [Unavailable], and returns the reason.
func (v Value) IsUnavailable() (why string, ok bool) {
	if s, isSecret := v.v.(*secret); isSecret && s.isOpaque() {
		why = s.sealed.Load().why
	}
	return why, why != ""
}

// WhyUnavailable reports whether v is or contains a value that [Unavailable] made, and returns the reason of the first one.
func (v Value) WhyUnavailable() (why string, ok bool) {
	_, found, ok := find(v, isUnavailable)
	if ok {
		why, _ = found.IsUnavailable()
	}
	return why, ok
}

// HasUnavailable reports whether v or anything inside it was made by [Unavailable].
func (v Value) HasUnavailable() bool { return anyValue(v, isUnavailable) }

// HasUnavailable reports whether any property is or contains such a value.
func (m Map) HasUnavailable() bool { return anyInMap(m, isUnavailable) }

func isUnavailable(v Value) bool {
	_, ok := v.IsUnavailable()
	return ok
}

// HasMark reports whether v is or contains an unknown. The contents of sealed secrets do not count.
func (v Value) HasMark() bool {
	_, _, found := find(v, Value.IsUnknown)
	return found
}

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

// ReplaceUnknowns returns v with every unknown at any depth, the unavailable ones excepted, replaced by the result of
// with.
func (v Value) ReplaceUnknowns(with func() Value) Value {
	var all rewriter
	all = func(v Value) (Value, bool) {
		switch {
		case isUnavailable(v):
			return v, false
		case v.IsUnknown():
			return with(), true
		}
		return rewriteChildren(v, all)
	}
	out, _ := all(v)
	return out
}

// replacer returns the rewriter that tries f on a value, and goes into the value if f does not change it.
func replacer(f rewriter) rewriter {
	var all rewriter
	all = func(v Value) (Value, bool) {
		if n, changed := f(v); changed {
			return n, true
		}
		return rewriteChildren(v, all)
	}
	return all
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

// ReplaceTexts returns v with each string and each asset of a text, at any depth, replaced by the value that with returns, if with also returns true.
func (v Value) ReplaceTexts(with func(text string) (Value, bool)) Value {
	out, _ := replacer(func(v Value) (Value, bool) {
		text, ok := v.v.(string)
		if a, isAsset := v.v.(Asset); isAsset && a.Kind == KindText {
			text, ok = a.Text, true
		}
		if !ok {
			return v, false
		}
		if n, replace := with(text); replace {
			return n, true
		}
		return v, false
	})(v)
	return out
}

// FindUnknown returns the first value of m, in the order of names, that is not known, and its path. The values that count are those that may not
// leave an update: unknowns, outputs that are not known, and secrets without content. A reference does not count: one to a component has no ID, or an
// empty one.
func (m Map) FindUnknown() (at Path, v Value, found bool) { return find(Of(m), isNotKnown) }

// FindUnavailable returns the first value of m, in the order of names, that [Unavailable] made, and its path.
func (m Map) FindUnavailable() (at Path, v Value, found bool) { return find(Of(m), isUnavailable) }

// IsKnown reports whether [Map.FindUnknown] finds nothing in m.
func (m Map) IsKnown() bool { return Of(m).IsKnown() }

// IsKnown reports whether [Map.FindUnknown] would find nothing in v.
func (v Value) IsKnown() bool {
	_, _, found := find(v, isNotKnown)
	return !found
}

func isNotKnown(v Value) bool {
	switch x := v.v.(type) {
	case Unknown:
		return true
	case *secret:
		return x.isOpaque()
	case *Output:
		return !x.Known
	}
	return false
}

// find returns the first value inside v for which is returns true, and its path. It makes a path only for a value that it has found, since it
// finds none in nearly all calls.
func find(v Value, is func(Value) bool) (at Path, found Value, ok bool) {
	if is(v) {
		return nil, v, true
	}
	switch x := v.v.(type) {
	case Array:
		for i, e := range x.a {
			if at, found, ok := find(e, is); ok {
				return slices.Insert(at, 0, Index(i)), found, true
			}
		}
	case Map:
		for _, e := range x.members() {
			if at, found, ok := find(e.value, is); ok {
				return slices.Insert(at, 0, Key(e.name)), found, true
			}
		}
	case Archive:
		return find(Value{x.Members}, is)
	case *secret:
		if !x.isOpaque() {
			return find(x.element, is)
		}
	case *Output:
		if x.Known {
			return find(x.Element, is)
		}
	}
	return nil, Null, false
}

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

// WithoutUnknowns does that for one value. ok is false if nothing of v is known.
func (v Value) WithoutUnknowns() (known Value, ok bool) {
	switch x := v.v.(type) {
	case Map:
		return Of(x.WithoutUnknowns()), true
	case *secret:
		if inner, isMap := x.element.v.(Map); isMap && !x.isOpaque() && !v.IsKnown() {
			return Secret(Of(inner.WithoutUnknowns())), true
		}
	}
	return v, v.IsKnown()
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
