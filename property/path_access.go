package property

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
