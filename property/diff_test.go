package property_test

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
)

func TestDetailedDiffNamesTheChangedLeaves(t *testing.T) {
	old := object(
		"same", Number(1), "gone", Number(1), "changed", Number(1), "null", Null,
		"list", ArrayOf(Number(1), Number(2), Number(3)),
		"map", Of(object("x.y", Number(1), "z", Of(object("deep", Bool(true))))), "was null", Null,
	)
	now := object(
		"same", Number(1), "new", Of(object("inner", Number(1))), "changed", String("1"),
		"list", ArrayOf(Number(1), Number(5)),
		"map", Of(object("x.y", Number(2), "z", Of(object("deep", Bool(false))))), "was null", Number(1),
	)
	d := Diff(old, now, nil)
	var got []string
	for c := range d.Changes() {
		got = append(got, []string{"+", "-", "~"}[c.Kind]+c.Path.String())
	}
	require.Equal(t, []string{
		"~changed", "-gone", "~list[1]", "-list[2]", `~map["x.y"]`, "~map.z.deep", "+new", `+["was null"]`,
	}, got)
	require.Equal(t, []string{"changed", "gone", "list", "map", "new", "was null"}, d.ChangedKeys())
	require.Contains(t, d.Sames, "same")
	require.Equal(t, 3, d.Updates["list"].Array.Len())
}

func TestEqualObjectsHaveNoDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMap(everything()).Draw(t, "map")
		require.Nil(t, Diff(m, m, nil))
		require.True(t, Diff(m, m, nil).IsEmpty())
		require.Empty(t, slices.Collect(Diff(m, m, nil).Changes()))
		require.Nil(t, Diff(m, m.With("absent", Null), nil), "null means absent")
		require.NotNil(t, Diff(m, m.With("present", Number(1)), nil))
	})
}

func TestIgnoredPlacesAreNotCompared(t *testing.T) {
	old := object("a", ArrayOf(Of(object("x", Number(1), "y", Number(1)))), "b", Number(1))
	now := object("a", ArrayOf(Of(object("x", Number(2), "y", Number(1)))), "c", Number(1))
	ignored := func(p Path) bool { return slices.Contains([]string{"a[0].x", "b", "c"}, p.String()) }
	require.Nil(t, Diff(old, now, ignored))
}

func TestDetailedDiffIsThatOfTheReferenceImplementation(t *testing.T) {
	kinds := map[ChangeKind]plugin.DiffKind{Added: plugin.DiffAdd, Deleted: plugin.DiffDelete, Updated: plugin.DiffUpdate}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]string{"a", "b", "c.d", `e"f`, "*"})
		value := genSmall(features{secrets: true}, keys, 3)
		old := NewMap(rapid.MapOf(keys, value).Draw(t, "old"))
		now := NewMap(rapid.MapOf(keys, value).Draw(t, "new"))
		d := Diff(old, now, nil)
		want := plugin.NewDetailedDiffFromObjectDiff(peerMap(old).Diff(peerMap(now)), true)
		got := map[string]plugin.PropertyDiff{}
		for c := range d.Changes() {
			got[c.Path.String()] = plugin.PropertyDiff{Kind: kinds[c.Kind], InputDiff: true}
		}
		require.Equal(t, want, got)
	})
}

func TestEqual(t *testing.T) {
	text, path := TextAsset("x").AsAsset(), Asset{Kind: KindPath, Path: "f"}
	same := path
	same.Hash = text.Hash
	tests := map[string]struct {
		a, b                Value
		equal, andIdentical bool
	}{
		"null and absent":         {a: Of(object("a", Null)), b: Of(object()), equal: true},
		"null is not zero":        {a: Of(object("a", Null)), b: Of(object("a", Number(0)))},
		"assets of one hash":      {a: Of(text), b: Of(same), equal: true},
		"text without its hash":   {a: Of(Asset{Kind: KindText, Text: "x"}), b: Of(same), equal: true},
		"unhashed, one source":    {a: Of(path), b: Of(same), equal: true},
		"unhashed, other source":  {a: Of(path), b: Of(Asset{Kind: KindPath, Path: "g"})},
		"archives of one hash":    {a: Of(Archive{Kind: KindPath, Path: "a", Hash: "1"}), b: Of(Archive{Kind: KindURI, URI: "b", Hash: "1"}), equal: true},
		"reference versions":      {a: Of(Reference{URN: "u", PackageVersion: "1"}), b: Of(Reference{URN: "u"}), equal: true},
		"component and resource":  {a: Of(Reference{URN: "u"}), b: Of(Reference{URN: "u", ID: Computed()})},
		"secret and plain":        {a: Secret(Number(1)), b: Number(1)},
		"secrets":                 {a: Secret(Number(1)), b: Secret(Number(1)), equal: true, andIdentical: true},
		"unknown and known":       {a: Computed(), b: String("x")},
		"unknowns":                {a: Computed(), b: Computed(), equal: true, andIdentical: true},
		"unknowns of other kinds": {a: Computed(), b: UnknownOf(UnknownBool)},
		"number and string":       {a: Number(1), b: String("1")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.equal, Equal(tt.a, tt.b))
			require.Equal(t, tt.equal, Equal(tt.b, tt.a))
			require.Equal(t, tt.andIdentical, Identical(tt.a, tt.b))
		})
	}
}

func TestSecretnessCanBeIgnored(t *testing.T) {
	require.True(t, EqualIgnoringSecrets(
		object("a", ArrayOf(Secret(Of(object("b", OutputOf(Output{Known: true, Element: Number(1)})))))),
		object("a", ArrayOf(Of(object("b", Secret(Number(1))))))))
	require.False(t, EqualIgnoringSecrets(object("a", Secret(Computed())), object("a", String("x"))))
}

func TestFitsIsTheComparisonOfTheReferenceImplementation(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "b"})
	rapid.Check(t, func(t *rapid.T) {
		value := genSmall(features{}, keys, 3)
		base := value.Draw(t, "base")
		planned := withUnknowns(t, base)
		actual := rapid.OneOf(value, rapid.Just(base), rapid.Just(withUnknowns(t, base)), rapid.Just(withoutSome(t, base))).Draw(t, "actual")
		require.Equal(t, peerValue(planned).DeepEqualsIncludeUnknowns(peerValue(actual)), Fits(planned, actual))
	})
}

// withUnknowns makes parts of a value unknown.
func withUnknowns(t *rapid.T, v Value) Value {
	switch {
	case rapid.IntRange(0, 4).Draw(t, "unknown") == 0:
		return Computed()
	case v.IsArray():
		var out []Value
		for _, e := range v.AsArray().All() {
			out = append(out, withUnknowns(t, e))
		}
		return ArrayOf(out...)
	case v.IsMap():
		out := map[string]Value{}
		for name, e := range v.AsMap().All() {
			out[name] = withUnknowns(t, e)
		}
		return Of(NewMap(out))
	}
	return v
}

// withoutSome leaves members of an object out.
func withoutSome(t *rapid.T, v Value) Value {
	out := map[string]Value{}
	for name, e := range v.AsMap().All() {
		if rapid.Bool().Draw(t, "keep") {
			out[name] = e
		}
	}
	if !v.IsMap() {
		return v
	}
	return Of(NewMap(out))
}

func TestSecretsFitSecretsOnly(t *testing.T) {
	require.True(t, Fits(Secret(Computed()), Secret(Number(1))))
	require.False(t, Fits(Secret(Computed()), Number(1)))
	require.False(t, Fits(Secret(Number(1)), Number(1)))
	require.True(t, Fits(Computed(), Secret(Number(1))))
	require.True(t, Fits(Of(object("a", Secret(Computed()))), Of(object())), "an unknown may turn out to be nothing")
	require.False(t, Fits(Of(object()), Of(object("a", Number(1)))))
}
