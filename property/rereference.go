package property

// MapReferences returns m with every resource reference in it, at any depth, replaced by the result of f. Unchanged parts
// are shared with m, and m itself is returned if f changed nothing. A secret with a change inside is a new one, without
// the ciphertext of the old; sealed secrets cannot be opened and stay as they are.
func (m Map) MapReferences(f func(Reference) Reference) Map {
	out, _ := rewriteMap(m, referenceRewriter(f))
	return out
}

// MapReferences does that for one value.
func (v Value) MapReferences(f func(Reference) Reference) Value {
	out, _ := referenceRewriter(f)(v)
	return out
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
