package property

// Lookup returns the value at p. It looks through secrets and known outputs. A wildcard has no single value: ok is
// false for it, as for a place that does not exist. The empty path leads to m itself.
func (m Map) Lookup(p Path) (v Value, ok bool) { return Of(m).Lookup(p) }

// Lookup returns the value at p inside v; see [Map.Lookup].
func (v Value) Lookup(p Path) (Value, bool) {
	for _, e := range p {
		inner, _ := v.Unwrap()
		next, ok := inner.child(e)
		if !ok {
			return Null, false
		}
		v = next
	}
	return v, true
}

func (v Value) child(e Element) (Value, bool) {
	if e.IsIndex {
		a, ok := v.v.(Array)
		if !ok || e.Index < 0 || e.Index >= len(a.a) {
			return Null, false
		}
		return a.a[e.Index], true
	}
	if e.IsWildcard() {
		return Null, false
	}
	m, ok := v.v.(Map)
	if !ok {
		return Null, false
	}
	return m.Get(e.Key)
}

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

func setChild(container Value, e Element, v Value) (Value, bool) {
	switch x := container.v.(type) {
	case Map:
		if e.IsWildcard() {
			return rewriteChildren(container, func(Value) (Value, bool) { return v, true })
		}
		if !e.IsIndex {
			return Of(x.With(e.Key, v)), true
		}
	case Array:
		if e.IsWildcard() {
			return rewriteChildren(container, func(Value) (Value, bool) { return v, true })
		}
		if e.IsIndex && e.Index >= 0 && e.Index <= len(x.a) {
			a := append(make([]Value, 0, len(x.a)+1), x.a...)
			if e.Index == len(a) {
				a = append(a, v)
			}
			a[e.Index] = v
			return Of(Array{a}), true
		}
	}
	return container, false
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
