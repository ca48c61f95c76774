package property

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

func mapOf(pairs ...any) Map {
	m := map[string]Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1].(Value)
	}
	return NewMap(m)
}

func TestWhatIsNotKnownIsFoundWhereverItIs(t *testing.T) {
	for path, v := range map[string]Value{
		"a":      Computed(),
		"a.b":    Of(mapOf("b", Secret(Computed()))),
		"a[1].c": ArrayOf(Null, Of(mapOf("c", OutputOf(Output{})))),
		"a.e":    Secret(Of(mapOf("e", Unavailable("because")))),
		"a.f":    OutputOf(Output{Known: true, Element: Of(mapOf("f", UnknownOf(UnknownNumber)))}),
		"a.g":    Of(Archive{Kind: KindMembers, Members: mapOf("g", Computed())}),
	} {
		at, _, found := mapOf("a", v).FindUnknown()
		require.True(t, found, path)
		require.Equal(t, path, at.String())
		require.False(t, v.IsKnown())
		require.True(t, v.HasUnknowns(), path)
	}
	known := mapOf("a", String("x"), "b", Of(Reference{URN: "component", ID: Computed()}), "c", Of(Reference{URN: "u", ID: String("i")}))
	require.True(t, known.IsKnown())
	require.False(t, known.HasUnknowns())
	require.True(t, IdenticalMaps(known, known.WithoutUnknowns()))
}

func TestAnOutputThatIsNotKnownKeepsItsLastKnownValue(t *testing.T) {
	last := mapOf("a", String("old"), "b", Computed(), "c", String("gone"))
	now, kept, dropped := mapOf("a", Of(mapOf("in", Computed())), "b", Computed(), "d", Secret(Computed()), "e", Number(1)).KnownOr(last)
	require.True(t, IdenticalMaps(mapOf("a", String("old"), "e", Number(1)), now))
	require.Equal(t, []string{"a"}, kept)
	require.Equal(t, []string{"b", "d"}, dropped)
}

func TestWithoutUnknownsListsGoAsAWhole(t *testing.T) {
	m := mapOf("a", Of(mapOf("x", Computed(), "y", Number(1))), "b", ArrayOf(Number(1), Computed()), "c", Secret(Of(mapOf("x", Computed(), "y", Null))))
	want := mapOf("a", Of(mapOf("y", Number(1))), "c", Secret(Of(mapOf("y", Null))))
	require.True(t, IdenticalMaps(want, m.WithoutUnknowns()))
}

func TestEveryMarkInAStateIsUnknownAndIsWrittenAsTheUsualOne(t *testing.T) {
	for _, kind := range []UnknownKind{UnknownString, UnknownBool, UnknownNumber, UnknownArray, UnknownAsset, UnknownArchive, UnknownObject} {
		text := `{"a":"` + kind.sentinel() + `"}`
		m, err := DecodeState(t.Context(), []byte(text), StateDecodeOptions{})
		require.NoError(t, err)
		require.Equal(t, kind, m.At("a").AsUnknown().Kind)
		out, err := EncodeState(t.Context(), m, StateOptions{})
		require.NoError(t, err)
		require.JSONEq(t, `{"a":"`+unknownStringSentinel+`"}`, string(out), "Pulumi reads no other one in states")
	}
}

func TestATextWithAMarkInAStateIsUnknown(t *testing.T) {
	mark := unknownNumberSentinel
	text := `{"a":"http://` + mark + `/","b":["-----` + mark + `"],"c":"` + mark[1:] + `-x","d":{"` + SignatureKey + `":"` + secretSignature +
		`","plaintext":"\"` + mark + `.\""},"e":{"` + SignatureKey + `":"` + assetSignature + `","text":"x=` + mark + `"}}`
	m, err := DecodeState(t.Context(), []byte(text), StateDecodeOptions{})
	require.NoError(t, err)
	want := mapOf("a", Computed(), "b", ArrayOf(Computed()), "c", String(mark[1:]+"-x"), "d", Secret(Computed()), "e", Computed())
	require.True(t, IdenticalMaps(want, m), m)
	require.False(t, HasUnknownMarker("-"+mark[:35]))
	require.False(t, HasUnknownMarker(strings.ToUpper(mark)+"-"))
}

type refusing struct{}

func (refusing) Decrypt(_ context.Context, text string) (string, error) {
	if text == "good" {
		return `"open"`, nil
	}
	return "", errors.New("wrong key")
}

func TestALenientDecrypterMakesOneValueUnavailable(t *testing.T) {
	text := []byte(`{"a":{"` + SignatureKey + `":"` + secretSignature + `","ciphertext":"bad"},"b":{"` + SignatureKey + `":"` + secretSignature + `","ciphertext":"good"},"c":1}`)
	_, err := DecodeState(t.Context(), text, StateDecodeOptions{Decrypter: refusing{}})
	require.ErrorContains(t, err, "wrong key")
	_, err = DecodeState(t.Context(), text, StateDecodeOptions{Decrypter: Lenient(refusing{}, func(error) bool { return true })})
	require.ErrorContains(t, err, "wrong key", "a fatal error")
	m, err := DecodeState(t.Context(), text, StateDecodeOptions{Decrypter: Lenient(refusing{}, func(error) bool { return false })})
	require.NoError(t, err)
	why, ok := m.At("a").IsUnavailable()
	require.True(t, ok)
	require.Equal(t, "wrong key", why)
	require.Equal(t, "open", m.At("b").AsSecret().AsString())
	_, err = EncodeState(t.Context(), m, StateOptions{})
	require.ErrorContains(t, err, "wrong key", "it is not written")
}

func TestNullPropertiesAreLeftOut(t *testing.T) {
	of := func(v Value) Value {
		return OutputOf(Output{Element: v, Known: true, Dependencies: []urn.URN{"urn:pulumi:s::p::t::a"}})
	}
	unavailable := Unavailable("because")
	got := Of(mapOf(
		"null", Null, "one", Number(1), "list", ArrayOf(Null, Of(mapOf("null", Null)), Secret(Null)), "made", of(Null), "within", of(Of(mapOf("null", Null))),
		"secret", Secret(Null), "hidden", Secret(Of(mapOf("null", Null))), "unavailable", unavailable,
	)).WithoutNulls()
	require.Equal(t, Of(mapOf(
		"one", Number(1), "list", ArrayOf(Null, Of(mapOf()), Null), "within", of(Of(mapOf())),
		"hidden", Secret(Of(mapOf())), "unavailable", unavailable,
	)), got)
	same := Of(mapOf("a", Secret(Number(1))))
	require.True(t, same.WithoutNulls().AsMap().At("a").v == same.AsMap().At("a").v, "unchanged parts are shared")
}
