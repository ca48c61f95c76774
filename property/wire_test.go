package property_test

import (
	"math"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

var keepAll = WireOptions{
	Unknowns: KeepUnknowns, KeepSecrets: true, KeepReferences: true, Outputs: KeepOutputs, KeepByteStrings: true,
}

func object(pairs ...any) Map {
	m := map[string]Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1].(Value)
	}
	return NewMap(m)
}

func wireRoundTrip(t *rapid.T) {
	in := genMap(everything()).Draw(t, "map")
	s, err := MarshalStruct(in, keepAll)
	require.NoError(t, err)
	bytes, err := proto.Marshal(s)
	require.NoError(t, err)
	var again structpb.Struct
	require.NoError(t, proto.Unmarshal(bytes, &again))
	out, err := UnmarshalStruct(&again, keepAll)
	require.NoError(t, err)
	requireIdentical(t, in, out)
}

func TestWireRoundTrip(t *testing.T) { rapid.Check(t, wireRoundTrip) }

func FuzzWireRoundTrip(f *testing.F) { f.Fuzz(rapid.MakeFuzz(wireRoundTrip)) }

// With the same options Pulumi's library produces the same bytes.
func TestWireFormIsThatOfTheReferenceImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := everything()
		f.bytes = false // unknown to that release
		o := WireOptions{
			Unknowns:       rapid.SampledFrom([]UnknownPolicy{KeepUnknowns, DropUnknowns}).Draw(t, "unknowns"),
			KeepSecrets:    rapid.Bool().Draw(t, "secrets"),
			KeepReferences: rapid.Bool().Draw(t, "references"),
			ElideAssets:    rapid.Bool().Draw(t, "elide"),
		}
		withoutInternal := rapid.Bool().Draw(t, "internal")
		if o.Unknowns == DropUnknowns {
			// For these Pulumi writes a form that it cannot read: a secret without a value, an empty ID.
			f.references, f.outputs, f.secrets = false, false, false
		}
		m := genMap(f).Draw(t, "map")
		sent := m
		if withoutInternal {
			sent = m.WithoutInternal()
		}
		s, err := MarshalStruct(sent, o)
		require.NoError(t, err)
		p, err := plugin.MarshalProperties(peerMap(m), plugin.MarshalOptions{
			KeepUnknowns: o.Unknowns == KeepUnknowns, KeepSecrets: o.KeepSecrets, KeepResources: o.KeepReferences,
			ElideAssetContents: o.ElideAssets, SkipInternalKeys: withoutInternal,
		})
		require.NoError(t, err)
		want, err := UnmarshalStruct(p, keepAll)
		require.NoError(t, err)
		got, err := UnmarshalStruct(s, keepAll)
		require.NoError(t, err)
		requireIdentical(t, collapse(want), collapse(got))
	})
}

// collapse removes the differences that both sides may choose freely: a secret directly inside a secret adds nothing.
func collapse(m Map) Map {
	out := m.Mutable()
	for k, v := range out {
		out[k] = collapseValue(v)
	}
	return NewMap(out)
}

func collapseValue(v Value) Value {
	switch {
	case v.IsSecret():
		inner, _ := v.Unwrap()
		return Secret(collapseValue(inner))
	case v.IsMap():
		return Of(collapse(v.AsMap()))
	case v.IsArray():
		var a []Value
		for _, e := range v.AsArray().All() {
			a = append(a, collapseValue(e))
		}
		return ArrayOf(a...)
	}
	return v
}

func TestDecodeFollowsTheReferenceImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := everything()
		f.bytes = false
		m := genMap(f).Draw(t, "map")
		s, err := MarshalStruct(m, keepAll)
		require.NoError(t, err)
		o := WireOptions{
			Unknowns: KeepUnknowns, KeepSecrets: rapid.Bool().Draw(t, "secrets"),
			KeepReferences: rapid.Bool().Draw(t, "references"),
			Outputs:        rapid.SampledFrom([]OutputPolicy{DowngradeOutputs, KeepOutputs}).Draw(t, "outputs"),
		}
		got, err := UnmarshalStruct(s, o)
		require.NoError(t, err)
		p, err := plugin.UnmarshalProperties(s, plugin.MarshalOptions{
			KeepUnknowns: true, KeepSecrets: o.KeepSecrets, KeepResources: o.KeepReferences, KeepOutputValues: o.Outputs == KeepOutputs,
		})
		require.NoError(t, err)
		back, err := plugin.MarshalProperties(p, plugin.MarshalOptions{
			KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputValues: true,
		})
		require.NoError(t, err)
		want, err := UnmarshalStruct(back, keepAll)
		require.NoError(t, err)
		requireIdentical(t, collapse(want), collapse(got))
	})
}

func TestWireDowngrades(t *testing.T) {
	const u = urn.URN("urn:pulumi:s::p::a:b:C::n")
	deps := []urn.URN{u}
	tests := map[string]struct {
		in   Value
		o    WireOptions
		want string // JSON, "" for dropped
	}{
		"secret":                      {in: Secret(String("x")), want: `"x"`},
		"reference with ID":           {in: Of(Reference{URN: u, ID: String("i")}), want: `"i"`},
		"reference to a component":    {in: Of(Reference{URN: u}), want: `"` + string(u) + `"`},
		"reference with unknown ID":   {in: Of(Reference{URN: u, ID: Computed()}), o: WireOptions{Unknowns: KeepUnknowns}, want: `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`},
		"known output":                {in: OutputOf(Output{Known: true, Element: Number(1), Dependencies: deps}), want: `1`},
		"unknown output":              {in: OutputOf(Output{}), o: WireOptions{Unknowns: KeepUnknowns}, want: `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`},
		"unknown output dropped":      {in: OutputOf(Output{Secret: true}), o: WireOptions{Unknowns: DropUnknowns, KeepSecrets: true}},
		"secret output, secrets kept": {in: OutputOf(Output{Known: true, Element: Number(1), Secret: true}), o: WireOptions{KeepSecrets: true}, want: `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":1}`},
		"secret unknown output":       {in: OutputOf(Output{Secret: true}), o: WireOptions{KeepSecrets: true, Unknowns: KeepUnknowns}, want: `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}`},
		"secret output of a secret":   {in: OutputOf(Output{Known: true, Element: Secret(Number(1)), Secret: true}), o: WireOptions{KeepSecrets: true}, want: `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":1}`},
		"unknowns keep their kind":    {in: UnknownOf(UnknownBool), o: WireOptions{Unknowns: KeepUnknowns}, want: `"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"`},
		"output kept":                 {in: OutputOf(Output{Known: true, Element: Number(1), Secret: true, Dependencies: deps}), o: keepAll, want: `{"4dabf18193072939515e22adb298388d":"d0e6a833031e9bbcd3f4e8bde6ca49a4","dependencies":["` + string(u) + `"],"secret":true,"value":1}`},
		"secret lifted":               {in: Secret(Number(1)), o: WireOptions{KeepSecrets: true, Outputs: UpgradeOutputs}, want: `{"4dabf18193072939515e22adb298388d":"d0e6a833031e9bbcd3f4e8bde6ca49a4","secret":true,"value":1}`},
		"unknown lifted":              {in: Computed(), o: WireOptions{Unknowns: KeepUnknowns, Outputs: UpgradeOutputs}, want: `{"4dabf18193072939515e22adb298388d":"d0e6a833031e9bbcd3f4e8bde6ca49a4"}`},
		"byte string":                 {in: String("\xff"), o: keepAll, want: `{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"/w=="}`},
		"unknown in an array dropped": {in: ArrayOf(Number(1), Computed(), Number(2)), o: WireOptions{Unknowns: DropUnknowns}, want: `[1,2]`},
		"elided asset":                {in: Of(Asset{Kind: KindPath, Path: "x", Hash: "ab"}), o: WireOptions{ElideAssets: true}, want: `{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"ab"}`},
		"elided archive":              {in: Of(Archive{Kind: KindPath, Path: "x", Hash: "ab"}), o: WireOptions{ElideAssets: true}, want: `{"4dabf18193072939515e22adb298388d":"0def7320c3a5731c473e5ecbe6d01bc7","hash":"ab"}`},
		"empty text is not elided":    {in: TextAsset(""), want: `{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","text":""}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, err := MarshalValue(tt.in, tt.o)
			require.NoError(t, err)
			if tt.want == "" {
				require.Nil(t, w)
				return
			}
			got, err := protojson.Marshal(w)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(got))
		})
	}
}

func TestWireErrorsNameTheProperty(t *testing.T) {
	tests := map[string]struct {
		in   Map
		o    WireOptions
		want string
	}{
		"unknown": {
			in:   object("b", Computed(), "a", Of(object("x y", ArrayOf(Null, Computed())))),
			want: `unexpected unknown property value for "a[\"x y\"][1]"`,
		},
		"unknown output": {
			in: object("a", OutputOf(Output{})), o: WireOptions{Outputs: KeepOutputs},
			want: `unexpected unknown property value for "a"`,
		},
		"bytes": {
			in:   object("a", String("\xff")),
			want: `the value of property "a" is a string that contains non-UTF8 bytes, which the receiver does not support`,
		},
		"reserved name": {
			in:   object(SignatureKey, String("x")),
			want: `the property name "4dabf18193072939515e22adb298388d" is reserved for the encoding of special values; use another name`,
		},
		"with the name of the whole": {
			in: object("a", Computed()), o: WireOptions{Name: "inputs"}, want: `unexpected unknown property value for "inputs.a"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := MarshalStruct(tt.in, tt.o)
			require.EqualError(t, err, tt.want)
			var v *ValueError
			require.ErrorAs(t, err, &v)
		})
	}
}

func TestMalformedWireValuesAreRefused(t *testing.T) {
	const k = `"4dabf18193072939515e22adb298388d"`
	tests := map[string]struct{ json, want string }{
		"unrecognized signature": {`{` + k + `:"nope"}`, `unrecognized signature 'nope' in property map for "p"`},
		"signature not a string": {`{` + k + `:7}`, `unrecognized signature '7' in property map for "p"`},
		"secret without value":   {`{` + k + `:"1b47061264138c4ac30d75fd1eb44270"}`, `malformed RPC secret: missing value for "p"`},
		"reference without urn":  {`{` + k + `:"5cf8f73096256a8f31e491e813e4eb8e"}`, `malformed resource reference for "p": missing urn`},
		"reference ID a number":  {`{` + k + `:"5cf8f73096256a8f31e491e813e4eb8e","urn":"u","id":1}`, `malformed resource reference for "p": id not a string`},
		"output secret text":     {`{` + k + `:"d0e6a833031e9bbcd3f4e8bde6ca49a4","secret":"x"}`, `malformed output value for "p": secret not a bool`},
		"output dependencies":    {`{` + k + `:"d0e6a833031e9bbcd3f4e8bde6ca49a4","dependencies":"x"}`, `malformed output value for "p": dependencies not an array`},
		"output dependency":      {`{` + k + `:"d0e6a833031e9bbcd3f4e8bde6ca49a4","dependencies":[1]}`, `malformed output value for "p": element in dependencies not a string`},
		"asset text a number":    {`{` + k + `:"c44067f5952c0a294b673a41bacd8c17","text":1}`, `malformed asset for "p": text not a string`},
		"archive member":         {`{` + k + `:"0def7320c3a5731c473e5ecbe6d01bc7","assets":{"m":1}}`, `archive member "p.m" is not an asset or archive`},
		"byte string not base64": {`{` + k + `:"803fd3297a5875dc03ca845dda5d2a98","value":"!"}`, `malformed byte string for "p": value is not base64`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s structpb.Struct
			require.NoError(t, protojson.Unmarshal([]byte(`{"p":`+tt.json+`}`), &s))
			_, err := UnmarshalStruct(&s, keepAll)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestDroppedUnknownLeavesNullInAReceivedArray(t *testing.T) {
	s, err := MarshalStruct(object("a", ArrayOf(Number(1), Computed()), "b", Computed(), "c", Secret(Computed())), keepAll)
	require.NoError(t, err)
	got, err := UnmarshalStruct(s, WireOptions{Unknowns: DropUnknowns, KeepSecrets: true})
	require.NoError(t, err)
	requireIdentical(t, object("a", ArrayOf(Number(1), Null)), got)
}

func TestReferenceIDWithoutContentIsUnknown(t *testing.T) {
	for name, id := range map[string]*structpb.Value{
		"empty":    structpb.NewStringValue(""),
		"sentinel": structpb.NewStringValue("04da6b54-80e4-46f7-96ec-b56ff0331ba9"),
	} {
		t.Run(name, func(t *testing.T) {
			v := structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				SignatureKey: structpb.NewStringValue("5cf8f73096256a8f31e491e813e4eb8e"),
				"urn":        structpb.NewStringValue("u"), "id": id,
			}})
			got, err := UnmarshalValue(v, keepAll)
			require.NoError(t, err)
			require.True(t, got.AsReference().ID.IsUnknown())
			require.False(t, got.HasUnknowns(), "it may be that of a component")
			got, err = UnmarshalValue(v, WireOptions{Unknowns: KeepUnknowns})
			require.NoError(t, err)
			require.True(t, got.IsUnknown())
		})
	}
}

func TestNestingBeyondTheLimitIsRefused(t *testing.T) {
	deep := func(n int) Map {
		v := Null
		for range n {
			v = ArrayOf(v)
		}
		return object("p", Of(object("q", v)))
	}
	var limit *LimitError
	_, err := MarshalStruct(deep(100_000), keepAll)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "depth", limit.What)
	require.ErrorContains(t, err, `"p.q[0][0]`)
	require.Less(t, len(err.Error()), 200)

	_, err = EncodeState(t.Context(), deep(100_000), StateOptions{})
	require.ErrorAs(t, err, &limit)

	s, err := MarshalStruct(deep(MaxDepth-2), keepAll)
	require.NoError(t, err)
	_, err = UnmarshalStruct(s, keepAll)
	require.NoError(t, err)
	for range 10 {
		s = &structpb.Struct{Fields: map[string]*structpb.Value{"p": structpb.NewStructValue(s)}}
	}
	_, err = UnmarshalStruct(s, keepAll)
	require.ErrorAs(t, err, &limit)

	text := `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	_, err = DecodeState(t.Context(), []byte(text), StateDecodeOptions{})
	require.ErrorAs(t, err, &limit)
}

func TestSizeBeyondTheLimitIsRefused(t *testing.T) {
	// One string, many times: large for a peer, small here.
	chunk := String(strings.Repeat("x", 1<<20))
	many := make([]Value, MaxSize>>20+1)
	for i := range many {
		many[i] = chunk
	}
	var limit *LimitError
	_, err := MarshalStruct(object("p", ArrayOf(many...)), keepAll)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "size", limit.What)
	require.ErrorContains(t, err, `"p[399]"`)
}

func TestNumbersKeepFloat64Semantics(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), 1 << 60, 0.1} {
		w, err := MarshalValue(Number(f), keepAll)
		require.NoError(t, err)
		v, err := UnmarshalValue(w, keepAll)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(v.AsNumber()))
	}
}
