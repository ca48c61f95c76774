package property

// AnnotateSecrets returns out with its values marked secret where those of in are, for providers that do not accept secrets
// ([protocol.md 2.4]). Only properties in both maps change: a property that is a secret in in becomes a secret, nested objects
// are annotated too, and where in has an array with a secret anywhere in it, the whole value becomes a secret.
//
// [protocol.md 2.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#24-providers-that-do-not-keep-secrets
func AnnotateSecrets(out, in Map) Map {
	changed, _ := out.mapped(func(name string, got Value) (Value, bool) {
		sent, ok := in.Get(name)
		if !ok {
			return got, false
		}
		return annotate(got, sent)
	})
	return changed
}

func annotate(got, sent Value) (Value, bool) {
	switch x := sent.v.(type) {
	case Map:
		if g, ok := got.v.(Map); ok && x.HasSecrets() {
			return Of(AnnotateSecrets(g, x)), true
		}
		return got, false
	case Array:
		if !sent.HasSecrets() {
			return got, false
		}
	default:
		if !isSecret(sent) {
			return got, false
		}
	}
	return MakeSecret(got), true
}

// RestoreAssets returns got with each elided asset and archive, which has only a hash, replaced by the sent one at the
// same place with the same hash ([protocol.md 2.6]).
//
// [protocol.md 2.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#26-assets
func RestoreAssets(got, sent Map) Map {
	v, _ := restoreAssets(Of(got), Of(sent))
	return v.AsMap()
}

func restoreAssets(got, sent Value) (Value, bool) {
	sent, _ = sent.Unwrap()
	switch x := got.v.(type) {
	case Asset:
		s, ok := sent.v.(Asset)
		if ok && x.Kind == KindElided && x.Hash == s.knownHash() {
			s.Hash = x.Hash
			return Of(s), true
		}
	case Archive:
		s, ok := sent.v.(Archive)
		if ok && x.Kind == KindElided && x.Hash == s.Hash {
			return sent, true
		}
	case *secret:
		return rewriteChildren(got, func(v Value) (Value, bool) { return restoreAssets(v, sent) })
	case Map:
		s, _ := sent.v.(Map)
		m, changed := x.mapped(func(name string, v Value) (Value, bool) { return restoreAssets(v, s.At(name)) })
		if changed {
			return Of(m), true
		}
	case Array:
		s, _ := sent.v.(Array)
		var out []Value
		for i, v := range x.a {
			if i >= len(s.a) {
				break
			}
			if n, changed := restoreAssets(v, s.a[i]); changed {
				if out == nil {
					out = append(make([]Value, 0, len(x.a)), x.a...)
				}
				out[i] = n
			}
		}
		if out != nil {
			return Of(Array{out}), true
		}
	}
	return got, false
}
