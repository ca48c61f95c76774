package property

import "slices"

// Equal reports whether a and b mean the same to a diff. A property whose value is null equals a missing one, at any
// depth. Assets and archives are equal if and only if their hashes are; where a hash is missing their sources are
// compared. NaN equals NaN. The package version of a reference does not count, nor the order of what an output depends
// on; an unknown equals only an unknown of the same kind.
func Equal(a, b Value) bool { return comparison{nullIsAbsent: true}.values(a, b) }

// EqualMaps is [Equal] for objects.
func EqualMaps(a, b Map) bool { return comparison{nullIsAbsent: true}.maps(a, b) }

// EqualIgnoringSecrets is [Equal] after [Map.StripSecretsAndOutputs] of both sides.
func EqualIgnoringSecrets(a, b Map) bool {
	return EqualMaps(a.StripSecretsAndOutputs(), b.StripSecretsAndOutputs())
}

// Identical reports whether a and b are the same in every detail that the encodings keep: a null property differs from a
// missing one, and assets with equal hashes but other sources differ.
func Identical(a, b Value) bool { return comparison{}.values(a, b) }

// IdenticalMaps is [Identical] for objects.
func IdenticalMaps(a, b Map) bool { return comparison{}.maps(a, b) }

// Fits reports whether an actual value matches a plan ([steps.md 12.3]). That is [Equal], except that an unknown on either
// side matches anything, and a property that is planned unknown may be missing.
//
// [steps.md 12.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#123-comparing-the-goal
func Fits(planned, actual Value) bool {
	return comparison{nullIsAbsent: true, unknownIsAny: true}.values(planned, actual)
}

type comparison struct{ nullIsAbsent, unknownIsAny bool }

func (c comparison) values(a, b Value) bool {
	if c.unknownIsAny && (a.IsUnknown() || b.IsUnknown()) {
		return true
	}
	switch x := a.v.(type) {
	case float64:
		y, ok := b.v.(float64)
		return ok && (x == y || x != x && y != y)
	case Array:
		y, ok := b.v.(Array)
		return ok && slices.EqualFunc(x.a, y.a, c.values)
	case Map:
		y, ok := b.v.(Map)
		return ok && c.maps(x, y)
	case Asset:
		y, ok := b.v.(Asset)
		return ok && c.assets(x, y)
	case Archive:
		y, ok := b.v.(Archive)
		return ok && c.archives(x, y)
	case Reference:
		y, ok := b.v.(Reference)
		return ok && c.references(x, y)
	case *secret:
		y, ok := b.v.(*secret)
		return ok && c.secrets(x, y)
	case *Output:
		y, ok := b.v.(*Output)
		return ok && c.outputs(x, y)
	default:
		return a.v == b.v // null, bool, string and Unknown are comparable
	}
}

func (c comparison) maps(a, b Map) bool {
	if a.o == b.o {
		return true
	}
	x, y := a.members(), b.members()
	if !c.nullIsAbsent && len(x) != len(y) {
		return false
	}
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].name < y[0].name: // only in a
			if v := x[0].value; !(c.nullIsAbsent && v.IsNull()) && !(c.unknownIsAny && v.StripSecrets().IsUnknown()) {
				return false
			}
			x = x[1:]
		case len(x) == 0 || y[0].name < x[0].name: // only in b
			if !(c.nullIsAbsent && y[0].value.IsNull()) {
				return false
			}
			y = y[1:]
		default:
			if !c.values(x[0].value, y[0].value) {
				return false
			}
			x, y = x[1:], y[1:]
		}
	}
	return true
}

func (c comparison) assets(a, b Asset) bool {
	if !c.nullIsAbsent {
		return a == b
	}
	if ha, hb := a.knownHash(), b.knownHash(); ha != "" && hb != "" {
		return ha == hb
	}
	a.Hash, b.Hash = "", ""
	return a == b
}

func (c comparison) archives(a, b Archive) bool {
	if c.nullIsAbsent && a.Hash != "" && b.Hash != "" {
		return a.Hash == b.Hash
	}
	if !c.nullIsAbsent && a.Hash != b.Hash {
		return false
	}
	return a.Kind == b.Kind && a.Path == b.Path && a.URI == b.URI && c.maps(a.Members, b.Members)
}

func (c comparison) references(a, b Reference) bool {
	if !c.nullIsAbsent && a.PackageVersion != b.PackageVersion {
		return false
	}
	return a.URN == b.URN && (a.ID.IsUnknown() && b.ID.IsUnknown() || c.values(a.ID, b.ID))
}

func (c comparison) secrets(a, b *secret) bool {
	if a.isOpaque() || b.isOpaque() {
		x, y := a.sealed.Load(), b.sealed.Load()
		return x != nil && y != nil && x.ciphertext == y.ciphertext && x.crypter == y.crypter
	}
	return c.values(a.element, b.element)
}

func (c comparison) outputs(a, b *Output) bool {
	return a.Known == b.Known && a.Secret == b.Secret &&
		slices.Equal(unionURNs(a.Dependencies, nil), unionURNs(b.Dependencies, nil)) && c.values(a.Element, b.Element)
}
