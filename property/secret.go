package property

// IsSealed reports whether v is a secret that was read without a [Decrypter]: its element is not available, and it can
// only be written back by the crypter that made it.
func (v Value) IsSealed() bool {
	s, ok := v.v.(*secret)
	return ok && s.isOpaque()
}

func (s *secret) isOpaque() bool {
	c := s.sealed.Load()
	return c != nil && c.opaque
}

// Unwrap removes the secret and output wrappers around v, not those inside it. It returns an unknown for an output that
// is not known, and reports whether any wrapper was secret.
func (v Value) Unwrap() (inner Value, secretive bool) {
	for {
		switch x := v.v.(type) {
		case *secret:
			secretive, v = true, x.element
		case *Output:
			secretive = secretive || x.Secret
			if !x.Known {
				return Computed(), secretive
			}
			v = x.Element
		default:
			return v, secretive
		}
	}
}

// StripSecretsAndOutputs returns v with every secret and output, at any depth, replaced by its element. An output that
// is not known becomes an unknown (steps.md 3.8).
func (v Value) StripSecretsAndOutputs() Value {
	s, _ := stripWrappers(v)
	return s
}

// StripSecretsAndOutputs does that for every property.
func (m Map) StripSecretsAndOutputs() Map {
	s, _ := rewriteMap(m, stripWrappers)
	return s
}

func stripWrappers(v Value) (Value, bool) {
	switch v.v.(type) {
	case *secret, *Output:
		inner, _ := v.Unwrap()
		inner, _ = stripWrappers(inner)
		return inner, true
	}
	return rewriteChildren(v, stripWrappers)
}

// StripSecrets returns v without its secret wrappers at any depth; outputs lose their secret flag.
func (v Value) StripSecrets() Value {
	s, _ := stripSecrets(v)
	return s
}

// StripSecrets does that for every property.
func (m Map) StripSecrets() Map {
	s, _ := rewriteMap(m, stripSecrets)
	return s
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
