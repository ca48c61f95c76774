package property

// Reset returns new with the value at p put back to the one in old: the meaning of one ignoreChanges path
// ([steps.md 3.4]). It never creates levels in between and never changes the length of an array.
//
// Secrets on the way are opened. A value that is inside a secret in old and would be outside of any in new becomes a
// secret. ok is false when the path cannot be ignored because it adds or removes an element; the places that could be
// reset are reset even then, and the others keep their new value.
//
// [steps.md 3.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#34-ignorechanges
func Reset(p Path, old, new Map) (result Map, ok bool) {
	r := resetting{}
	v, ok := r.at(p, Of(old), Of(new))
	return v.AsMap(), ok
}

// resetting holds whether the containers of the current place are secret.
type resetting struct{ oldSecret, newSecret bool }

func (r resetting) at(p Path, old, new Value) (Value, bool) {
	if len(p) == 0 {
		return new, false
	}
	for {
		s, ok := old.v.(*secret)
		if !ok {
			break
		}
		r.oldSecret, old = true, s.element
	}
	if s, ok := new.v.(*secret); ok {
		r.newSecret = true
		element, ok := r.at(p, old, s.element)
		if Identical(element, s.element) {
			return new, ok // keeps the ciphertext beside it
		}
		return Secret(element), ok
	}
	switch e := p[0]; {
	case e.IsIndex && e.Index < 0:
		return new, false
	case e.IsIndex && len(p) == 1:
		return r.index(e.Index, old, new)
	case e.IsIndex:
		return r.belowIndex(p, old, new)
	case e.IsWildcard() && len(p) == 1:
		return r.all(old, new)
	case e.IsWildcard():
		return r.belowAll(p, old, new)
	case len(p) == 1:
		return r.key(e.Key, old, new)
	default:
		return r.belowKey(p, old, new)
	}
}

// taken returns an old value as it is put into new.
func (r resetting) taken(v Value) Value {
	if r.oldSecret && !r.newSecret {
		return MakeSecret(v)
	}
	return v
}

func (r resetting) index(i int, old, new Value) (Value, bool) {
	o, oldOK := old.v.(Array)
	n, newOK := new.v.(Array)
	if !oldOK || !newOK {
		return new, oldOK == newOK
	}
	inOld, inNew := i < len(o.a), i < len(n.a)
	if !inOld || !inNew {
		return new, inOld == inNew
	}
	return setChild(new, Index(i), r.taken(o.a[i]))
}

func (r resetting) belowIndex(p Path, old, new Value) (Value, bool) {
	o, oldOK := old.v.(Array)
	n, newOK := new.v.(Array)
	if !oldOK || !newOK {
		return new, oldOK == newOK
	}
	i := p[0].Index
	if i >= len(o.a) || i >= len(n.a) {
		return new, false
	}
	v, ok := r.at(p[1:], o.a[i], n.a[i])
	out, _ := setChild(new, p[0], v)
	return out, ok
}

func (r resetting) key(k string, old, new Value) (Value, bool) {
	n, newOK := new.v.(Map)
	if o, ok := old.v.(Map); ok {
		if v, has := o.Get(k); has {
			if !newOK {
				return new, false
			}
			return Of(n.With(k, r.taken(v))), true
		}
	}
	if newOK {
		return Of(n.Without(k)), true
	}
	return new, true
}

func (r resetting) belowKey(p Path, old, new Value) (Value, bool) {
	o, oldOK := old.v.(Map)
	n, newOK := new.v.(Map)
	if !oldOK || !newOK {
		return new, oldOK == newOK
	}
	k := p[0].Key
	oldValue, inOld := o.Get(k)
	newValue, inNew := n.Get(k)
	if !inNew {
		return new, !inOld
	}
	v, ok := r.at(p[1:], oldValue, newValue)
	return Of(n.With(k, v)), ok
}

// all resets every member of an object, or the common prefix of two arrays.
func (r resetting) all(old, new Value) (Value, bool) {
	switch n := new.v.(type) {
	case Map:
		o, ok := old.v.(Map)
		if !ok {
			return new, true
		}
		out, _ := rewriteMap(o, func(v Value) (Value, bool) { return r.taken(v), true })
		return Of(out), true
	case Array:
		o, ok := old.v.(Array)
		if !ok {
			return new, true
		}
		out := append(make([]Value, 0, len(n.a)), n.a...)
		for i := range min(len(o.a), len(n.a)) {
			out[i] = r.taken(o.a[i])
		}
		return Of(Array{out}), len(o.a) == len(n.a)
	}
	return new, false
}

// belowAll goes into every member that both sides have. The members of an object are reset independently of each
// other, so that the result does not depend on their order; the elements of an array up to the first failure.
func (r resetting) belowAll(p Path, old, new Value) (Value, bool) {
	if o, ok := old.v.(Map); ok {
		n, ok := new.v.(Map)
		if !ok {
			return new, false
		}
		both, all := 0, true
		out, _ := n.mapped(func(name string, newValue Value) (Value, bool) {
			oldValue, has := o.Get(name)
			if !has {
				return newValue, false
			}
			both++
			v, ok := r.at(p[1:], oldValue, newValue)
			all = all && ok
			return v, true
		})
		return Of(out), all && both == o.Len()
	}
	o, oldOK := old.v.(Array)
	n, newOK := new.v.(Array)
	if !oldOK || !newOK {
		return new, false
	}
	out := append(make([]Value, 0, len(n.a)), n.a...)
	for i := range min(len(o.a), len(n.a)) {
		v, ok := r.at(p[1:], o.a[i], n.a[i])
		if out[i] = v; !ok {
			return Of(Array{out}), false
		}
	}
	return Of(Array{out}), len(o.a) == len(n.a)
}
