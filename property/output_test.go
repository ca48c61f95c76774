package property_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func TestLiftedValuesDowngradeToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := everything()
		f.outputs = false
		m := genMap(f).Draw(t, "map")
		lifted := m.LiftOutputs()
		requireIdentical(t, collapse(m), lifted.DowngradeOutputs())
		requireIdentical(t, lifted, lifted.LiftOutputs())
		require.Equal(t, m.HasSecrets(), lifted.HasSecrets())
		require.Equal(t, m.HasUnknowns(), lifted.HasUnknowns())
	})
}

// The wire decoder lifts outputs under UpgradeOutputs.
func TestLiftingOnTheWireIsLiftingInMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMap(everything()).Draw(t, "map")
		upgrade := keepAll
		upgrade.Outputs = UpgradeOutputs
		s, err := MarshalStruct(m, keepAll)
		require.NoError(t, err)
		decoded, err := UnmarshalStruct(s, upgrade)
		require.NoError(t, err)
		requireIdentical(t, m.LiftOutputs(), decoded)

		s, err = MarshalStruct(m, upgrade)
		require.NoError(t, err)
		decoded, err = UnmarshalStruct(s, keepAll)
		require.NoError(t, err)
		requireIdentical(t, m.LiftOutputs(), decoded)
	})
}

func TestStrippedValuesHaveNoWrappers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMap(everything()).Draw(t, "map")
		stripped := m.StripSecretsAndOutputs()
		require.False(t, stripped.HasSecrets())
		require.Equal(t, m.HasUnknowns(), stripped.HasUnknowns())
		require.Empty(t, stripped.OutputDependencies())
		require.True(t, EqualIgnoringSecrets(m, m.StripSecrets()))
		require.False(t, m.StripSecrets().HasSecrets())
		require.False(t, m.DropUnknowns().HasUnknowns())
	})
}

func TestDependenciesAreJoined(t *testing.T) {
	const a, b, c = urn.URN("urn:a"), urn.URN("urn:b"), urn.URN("urn:c")
	m := object(
		"plain", Number(1), "secret", Secret(Number(2)), "unknown", Computed(),
		"output", OutputOf(Output{Known: true, Element: ArrayOf(OutputOf(Output{Dependencies: []urn.URN{c}})), Dependencies: []urn.URN{b}}),
		"alone", Number(3),
	)
	got := m.WithDependencies(map[string][]urn.URN{
		"plain": {b, a, b}, "secret": {a}, "unknown": {a}, "output": {a}, "alone": nil, "absent": {a},
	})
	require.Equal(t, map[string][]urn.URN{
		"plain": {a, b}, "secret": {a}, "unknown": {a}, "output": {a, b, c},
	}, got.OutputDependencies())
	require.True(t, got.At("secret").AsOutput().Secret)
	require.True(t, Equal(Number(2), got.At("secret").AsOutput().Element))
	require.False(t, got.At("unknown").AsOutput().Known)
	require.True(t, got.At("alone").IsNumber())
	require.Equal(t, 5, got.Len())
	requireIdentical(t, m.DowngradeOutputs(), got.DowngradeOutputs())
}

func TestUnwrapSeesThroughEveryLayer(t *testing.T) {
	v, secretive := Secret(OutputOf(Output{Known: true, Element: Secret(String("x"))})).Unwrap()
	require.True(t, secretive)
	require.True(t, Equal(String("x"), v))
	v, secretive = OutputOf(Output{}).Unwrap()
	require.False(t, secretive)
	require.True(t, v.IsUnknown())
}

func TestAnnotateSecrets(t *testing.T) {
	in := object(
		"s", Secret(Number(1)), "o", Of(object("s", Secret(Number(1)), "p", Number(1))),
		"a", ArrayOf(Of(object("s", Secret(Number(1))))), "p", Number(1), "only in", Secret(Number(1)),
		"object to text", Of(object("s", Secret(Number(1)))), "already", Secret(Number(1)),
		"plain array", ArrayOf(Number(1)),
	)
	out := object(
		"s", Number(2), "o", Of(object("s", Number(2), "p", Number(2))), "a", ArrayOf(Number(2)), "p", Number(2),
		"object to text", String("x"), "already", Secret(Number(2)), "only out", Number(2), "plain array", ArrayOf(Number(2)),
	)
	requireIdentical(t, object(
		"s", Secret(Number(2)), "o", Of(object("s", Secret(Number(2)), "p", Number(2))), "a", Secret(ArrayOf(Number(2))),
		"p", Number(2), "object to text", String("x"), "already", Secret(Number(2)), "only out", Number(2),
		"plain array", ArrayOf(Number(2)),
	), AnnotateSecrets(out, in))
	requireIdentical(t, object("a", Secret(Number(1)), "b", Secret(Number(1))),
		object("a", Number(1), "b", Secret(Number(1))).SecretsAll())
}

func TestElidedAssetsAreRestoredFromWhatWasSent(t *testing.T) {
	text := TextAsset("x")
	elided := Of(Asset{Hash: text.AsAsset().Hash})
	other := Of(Asset{Hash: "00"})
	archive := Of(Archive{Kind: KindPath, Path: "p", Hash: "11"})
	sent := object("a", ArrayOf(Secret(text)), "b", Of(object("c", archive)), "d", text)
	got := RestoreAssets(object(
		"a", ArrayOf(elided, elided), "b", Of(object("c", Of(Archive{Hash: "11"}))), "d", Secret(other), "e", elided,
	), sent)
	requireIdentical(t, object(
		"a", ArrayOf(text, elided), "b", Of(object("c", archive)), "d", Secret(other), "e", elided,
	), got)
}

func TestInternalPropertiesAreLeftOutAtTheTopOnly(t *testing.T) {
	m := object("__defaults", Number(1), "a", Of(object("__x", Number(1))))
	requireIdentical(t, object("a", Of(object("__x", Number(1)))), m.WithoutInternal())
}

func TestMapsAreNotChangedThroughTheirCopies(t *testing.T) {
	source := map[string]Value{"a": Number(1)}
	m := NewMap(source)
	source["a"] = Number(2)
	m.Mutable()["a"] = Number(3)
	require.True(t, Equal(Number(1), m.At("a")))
	require.True(t, Equal(Null, m.Without("a").At("a")))
	require.Equal(t, 1, m.Without("b").Len())
	require.Equal(t, []string{"a", "b"}, m.With("b", Null).Names())
}
