package property

import "slices"

// Unavailable returns a secret of which nobody has the content, such as an output of another stack that cannot be decrypted. It counts as
// unknown. why is a sentence without a full stop that says what it is and how to get it.
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

// HasMark reports whether v is or contains an unknown. What is in secrets that are not open does not count.
func (v Value) HasMark() bool {
	_, _, found := find(v, Value.IsUnknown)
	return found
}

// ReplaceUnavailable returns m with every value that [Unavailable] made, at any depth, replaced by what with returns for it and its reason.
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

// ReplaceUnknowns returns v with every unknown at any depth, the unavailable ones excepted, replaced by what with returns.
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

// replacer returns the rewriter that tries f on a value, and goes into it if f leaves it alone.
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

// ReplaceReferences returns m with every reference at any depth for which with returns true replaced by the value that it returns.
func (m Map) ReplaceReferences(with func(r Reference) (Value, bool)) Map {
	out, _ := rewriteMap(m, replacer(func(v Value) (Value, bool) {
		if r, ok := v.v.(Reference); ok {
			return with(r)
		}
		return v, false
	}))
	return out
}

// ReplaceTexts returns v with every string and every asset of a text, at any depth, for which with returns true replaced by the value that it returns.
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

// FindUnknown returns the first value of m, in the order of names, that is not known, and where it is. What counts is what may not leave an
// update: unknowns, outputs that are not known, and secrets without content. A reference does not count: that to a component has no ID, or an empty one.
func (m Map) FindUnknown() (at Path, v Value, found bool) { return find(Of(m), isNotKnown) }

// FindUnavailable returns the first value of m, in the order of names, that [Unavailable] made, and where it is.
func (m Map) FindUnavailable() (at Path, v Value, found bool) { return find(Of(m), isUnavailable) }

// IsKnown reports whether nothing in m counts for [Map.FindUnknown].
func (m Map) IsKnown() bool { return Of(m).IsKnown() }

// IsKnown reports whether nothing in v counts for [Map.FindUnknown].
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

// find returns the first value inside v for which is returns true, and where it is. It makes a path only for a value that it has found: nearly
// all that it is called with is known.
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

// WithoutUnknowns returns m without what counts for [Map.FindUnknown]: a property is left out, and so is a list as a whole.
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

// WithoutUnknowns does that for one value. It reports false if nothing of v is known.
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

// KnownOr returns m with each property that is not known, in whole or in part, replaced by that of old, if that one is known, and without it
// otherwise. It returns the names of both, sorted.
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
