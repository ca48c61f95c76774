package property

// anyValue reports whether pred holds for v or for a value inside it. The order of the calls is not defined.
func anyValue(v Value, pred func(Value) bool) bool {
	if pred(v) {
		return true
	}
	switch x := v.v.(type) {
	case Array:
		for _, e := range x.a {
			if anyValue(e, pred) {
				return true
			}
		}
	case Map:
		return anyInMap(x, pred)
	case Archive:
		return anyInMap(x.Members, pred)
	case *secret:
		return anyValue(x.element, pred)
	case *Output:
		return x.Known && anyValue(x.Element, pred)
	}
	return false
}

func anyInMap(m Map, pred func(Value) bool) bool {
	for _, e := range m.members() {
		if anyValue(e.value, pred) {
			return true
		}
	}
	return false
}

// rewriter returns the replacement of its argument, and whether it differs.
type rewriter func(Value) (Value, bool)

// rewriteChildren applies f to the values directly inside v. Unchanged values are shared with v, and v itself is
// returned if f changed nothing.
func rewriteChildren(v Value, f rewriter) (Value, bool) {
	switch x := v.v.(type) {
	case Array:
		if a, changed := rewriteArray(x, f); changed {
			return Value{a}, true
		}
	case Map:
		if m, changed := rewriteMap(x, f); changed {
			return Value{m}, true
		}
	case *secret:
		if e, changed := f(x.element); changed {
			return Secret(e), true
		}
	case *Output:
		if !x.Known {
			return v, false
		}
		if e, changed := f(x.Element); changed {
			o := *x
			o.Element = e
			return OutputOf(o), true
		}
	case Archive:
		if m, changed := rewriteMap(x.Members, f); changed {
			x.Members = m
			return Value{x}, true
		}
	}
	return v, false
}

func rewriteArray(a Array, f rewriter) (Array, bool) {
	var out []Value
	for i, e := range a.a {
		n, changed := f(e)
		if changed && out == nil {
			out = append(make([]Value, 0, len(a.a)), a.a...)
		}
		if changed {
			out[i] = n
		}
	}
	if out == nil {
		return a, false
	}
	return Array{out}, true
}

func rewriteMap(m Map, f rewriter) (Map, bool) {
	return m.mapped(func(_ string, v Value) (Value, bool) { return f(v) })
}

func isUnknown(v Value) bool {
	if o, ok := v.v.(*Output); ok {
		return !o.Known
	}
	return v.IsUnknown()
}

func isSecret(v Value) bool {
	if o, ok := v.v.(*Output); ok {
		return o.Secret
	}
	return v.IsSecret()
}
