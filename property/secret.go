package property

func stripWrappers(v Value) (Value, bool) {
	switch v.v.(type) {
	case *secret, *Output:
		inner, _ := v.Unwrap()
		inner, _ = stripWrappers(inner)
		return inner, true
	}
	return rewriteChildren(v, stripWrappers)
}

func stripSecrets(v Value) (Value, bool) {
	switch x := v.v.(type) {
	case *secret:
		inner, _ := stripSecrets(x.element)
		return inner, true
	case *Output:
		o := *x
		o.Secret = false
		o.Element, _ = stripSecrets(x.Element)
		return OutputOf(o), true
	}
	return rewriteChildren(v, stripSecrets)
}

// MakeSecret returns v as a secret, and v itself when it is one already or is a secret output.
func MakeSecret(v Value) Value {
	if isSecret(v) {
		return v
	}
	if o, ok := v.v.(*Output); ok {
		c := *o
		c.Secret = true
		return OutputOf(c)
	}
	return Secret(v)
}
