package property_test

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// features are the kinds of value that a generator makes.
type features struct{ unknowns, secrets, outputs, assets, references, bytes, floats, nulls bool }

func everything() features {
	return features{
		unknowns: true, secrets: true, outputs: true, assets: true, references: true, bytes: true, floats: true, nulls: true,
	}
}

var names = rapid.OneOf(
	rapid.SampledFrom([]string{"a", "b", "name", "__internal", "with.dot", "with\"quote", "ü", "", "x-y", "*", "[0]", "<&>"}),
	rapid.String(),
)

func genMap(f features) *rapid.Generator[Map] {
	return rapid.Custom(func(t *rapid.T) Map {
		n := rapid.IntRange(0, 5).Draw(t, "size")
		m := map[string]Value{}
		for range n {
			m[names.Draw(t, "name")] = genValue(f, 4).Draw(t, "value")
		}
		return NewMap(m)
	})
}

func genValue(f features, depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := []func() Value{
			func() Value { return Bool(rapid.Bool().Draw(t, "bool")) },
			func() Value { return genNumber(f).Draw(t, "number") },
			func() Value { return String(genText().Draw(t, "string")) },
		}
		if f.nulls {
			kinds = append(kinds, func() Value { return Null })
		}
		if f.bytes {
			kinds = append(kinds, func() Value { return String(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) })
		}
		if f.unknowns {
			kinds = append(kinds, Computed)
		}
		if f.assets {
			kinds = append(kinds, func() Value { return genAsset().Draw(t, "asset") }, func() Value {
				return genArchive(2).Draw(t, "archive")
			})
		}
		if f.references {
			kinds = append(kinds, func() Value { return genReference(f).Draw(t, "reference") })
		}
		if depth > 0 {
			inner := genValue(f, depth-1)
			kinds = append(kinds, nested(t, f, inner)...)
		}
		return rapid.SampledFrom(kinds).Draw(t, "kind")()
	})
}

func nested(t *rapid.T, f features, inner *rapid.Generator[Value]) []func() Value {
	kinds := []func() Value{
		func() Value { return ArrayOf(rapid.SliceOfN(inner, 0, 4).Draw(t, "array")...) },
		func() Value { return Of(NewMap(rapid.MapOfN(names, inner, 0, 4).Draw(t, "object"))) },
	}
	if f.secrets {
		kinds = append(kinds, func() Value { return Secret(inner.Draw(t, "secret")) })
	}
	if f.outputs {
		kinds = append(kinds, func() Value { return genOutput(f, inner).Draw(t, "output") })
	}
	return kinds
}

// genOutput makes outputs in their normal form: an element that is itself an unknown or an output is never inside one.
func genOutput(f features, inner *rapid.Generator[Value]) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		o := Output{Secret: f.secrets && rapid.Bool().Draw(t, "secret")}
		for i := range rapid.IntRange(0, 2).Draw(t, "dependencies") {
			o.Dependencies = append(o.Dependencies, urn.New("s", "p", "", "a:b:C", string(rune('a'+i))))
		}
		if !f.unknowns || rapid.Bool().Draw(t, "known") {
			element := inner.Draw(t, "element")
			if !element.IsUnknown() && !element.IsOutput() {
				o.Known, o.Element = true, element
			}
		}
		if !f.unknowns && !o.Known {
			o.Known, o.Element = true, String("x")
		}
		return OutputOf(o)
	})
}

func genNumber(f features) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		if f.floats && rapid.IntRange(0, 9).Draw(t, "special") == 0 {
			return Number(rapid.SampledFrom([]float64{
				math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1),
			}).Draw(t, "float"))
		}
		return Number(rapid.OneOf(
			rapid.Float64(),
			rapid.Map(rapid.Int32(), func(i int32) float64 { return float64(i) }),
			rapid.SampledFrom([]float64{1e21, 1e-7, 1e-6, 999999999999999999999, 0.1, 1 << 53}),
		).Draw(t, "float"))
	})
}

func genText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "<a href=\"x\">&</a>", "\u2028\u2029", "\x00\x1f\x7f\b\f\n\r\t", "😀", `\`, "null"}),
	)
}

func genAsset() *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		switch rapid.IntRange(0, 3).Draw(t, "source") {
		case 0:
			return TextAsset(genText().Draw(t, "text"))
		case 1:
			return PathAsset("./" + rapid.String().Draw(t, "path"))
		case 2:
			return URIAsset("https://" + rapid.String().Draw(t, "uri"))
		default:
			return Of(Asset{Hash: "0123", Kind: KindElided})
		}
	})
}

func genArchive(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		switch rapid.IntRange(0, 3).Draw(t, "source") {
		case 0:
			return PathArchive("./" + rapid.String().Draw(t, "path"))
		case 1:
			return URIArchive("file:///" + rapid.String().Draw(t, "uri"))
		case 2:
			return Of(Archive{Hash: "4567", Kind: KindElided})
		}
		m := map[string]Value{}
		for range rapid.IntRange(0, 2).Draw(t, "members") {
			member := genAsset()
			if depth > 0 && rapid.Bool().Draw(t, "nested") {
				member = genArchive(depth - 1)
			}
			m[names.Draw(t, "name")] = member.Draw(t, "member")
		}
		return MemberArchive(NewMap(m))
	})
}

func genReference(f features) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		r := Reference{URN: urn.New("s", "p", "", "a:b:C", "n"), PackageVersion: rapid.SampledFrom([]string{"", "1.2"}).Draw(t, "v")}
		switch rapid.IntRange(0, 2).Draw(t, "id") {
		case 0:
			r.ID = String("i-" + rapid.String().Draw(t, "id"))
		case 1:
			if f.unknowns {
				r.ID = Computed()
			}
		}
		return Of(r)
	})
}

func requireIdentical(t require.TestingT, want, got Map) {
	if !IdenticalMaps(want, got) {
		require.Failf(t, "values differ", "want %s\ngot  %s", render(want), render(got))
	}
}
