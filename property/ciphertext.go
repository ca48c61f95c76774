package property

// sealedSecret returns a secret with its encrypted form.
func sealedSecret(element Value, s *sealed) Value {
	v := &secret{element: element}
	v.sealed.Store(s)
	return Value{v}
}

// ReuseCiphertexts lets the secrets of m be written as the ciphertext of the equal secret at the same place in old, so
// that a program that registers an unchanged secret does not change the state file (state.md 5.6). It changes no value,
// only the stored ciphertexts, and is safe for concurrent use.
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
