package property_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
)

// rot is a crypter with a fresh ciphertext for every call, as real ones have.
type rot struct {
	calls atomic.Int64
	fail  error
}

func (r *rot) Encrypt(_ context.Context, text string) (string, error) {
	n := r.calls.Add(1)
	return strings.Repeat("=", int(n%7)) + ":" + base64.StdEncoding.EncodeToString([]byte(text)), r.fail
}

func (r *rot) Decrypt(_ context.Context, text string) (string, error) {
	_, body, _ := strings.Cut(text, ":")
	b, err := base64.StdEncoding.DecodeString(body)
	return string(b), errors.Join(err, r.fail)
}

func stateRoundTrip(t *rapid.T) {
	f := everything()
	f.outputs = false
	m := genMap(f).Draw(t, "map")
	c := &rot{}
	ctx := context.Background()
	first, err := EncodeState(ctx, m, StateOptions{Encrypter: c})
	require.NoError(t, err)
	require.True(t, json.Valid(first))
	got, err := DecodeState(ctx, first, StateDecodeOptions{Decrypter: c, Crypter: "k"})
	require.NoError(t, err)
	requireIdentical(t, m, got)

	again, err := EncodeState(ctx, got, StateOptions{Encrypter: c, Crypter: "k"})
	require.NoError(t, err)
	require.Equal(t, string(first), string(again), "an unchanged state must not change its bytes")

	sealed, err := DecodeState(ctx, first, StateDecodeOptions{Crypter: "k"})
	require.NoError(t, err)
	again, err = EncodeState(ctx, sealed, StateOptions{Crypter: "k"})
	require.NoError(t, err)
	require.Equal(t, string(first), string(again), "sealed secrets are written back as they are")

	plain, err := EncodeState(ctx, m, StateOptions{Secrets: SecretsPlaintext})
	require.NoError(t, err)
	got, err = DecodeState(ctx, plain, StateDecodeOptions{})
	require.NoError(t, err)
	requireIdentical(t, m, got)
}

func TestStateRoundTrip(t *testing.T) { rapid.Check(t, stateRoundTrip) }

func FuzzStateRoundTrip(f *testing.F) { f.Fuzz(rapid.MakeFuzz(stateRoundTrip)) }

// Plain values are written as encoding/json writes them without HTML escaping.
func TestStateTextIsThatOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMap(features{nulls: true}).Draw(t, "map")
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(plainJSON(Of(m))))
		got, err := EncodeState(context.Background(), m, StateOptions{})
		require.NoError(t, err)
		require.Equal(t, strings.TrimSuffix(want.String(), "\n"), string(got))
	})
}

func plainJSON(v Value) any {
	switch {
	case v.IsMap():
		m := map[string]any{}
		for k, e := range v.AsMap().All() {
			m[k] = plainJSON(e)
		}
		return m
	case v.IsArray():
		a := []any{}
		for _, e := range v.AsArray().All() {
			a = append(a, plainJSON(e))
		}
		return a
	case v.IsNumber():
		return v.AsNumber()
	case v.IsString():
		return v.AsString()
	case v.IsBool():
		return v.AsBool()
	}
	return nil
}

func TestStateForms(t *testing.T) {
	const k = `{"4dabf18193072939515e22adb298388d":`
	const secretSig, assetSig, archiveSig = `"1b47061264138c4ac30d75fd1eb44270"`, `"c44067f5952c0a294b673a41bacd8c17"`,
		`"0def7320c3a5731c473e5ecbe6d01bc7"`
	tests := map[string]struct {
		in   Value
		o    StateOptions
		want string
	}{
		"unknown":           {in: UnknownOf(UnknownBool), want: `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`},
		"large number":      {in: Number(1e21), want: `1e+21`},
		"largest plain":     {in: Number(123456789012345680000), want: `123456789012345680000`},
		"small number":      {in: Number(1e-7), want: `1e-7`},
		"smallest plain":    {in: Number(1e-6), want: `0.000001`},
		"negative exponent": {in: Number(-1.5e-10), want: `-1.5e-10`},
		"NaN":               {in: Number(math.NaN()), want: k + `"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"7ff8000000000001"}`},
		"infinity":          {in: Number(math.Inf(-1)), want: k + `"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"fff0000000000000"}`},
		"bytes":             {in: String("a\xff"), want: k + `"803fd3297a5875dc03ca845dda5d2a98","value":"Yf8="}`},
		"no HTML escapes":   {in: String("<&>"), want: `"<&>"`},
		"line separators":   {in: String("\u2028\u2029"), want: `"\u2028\u2029"`},
		"control":           {in: String("\b\f\x01\x7f"), want: `"\b\f\u0001` + "\x7f" + `"`},
		"nested plaintext": {
			in: Secret(ArrayOf(Secret(String("a")))), o: StateOptions{Secrets: SecretsPlaintext},
			want: k + secretSig + `,"plaintext":"[{\"4dabf18193072939515e22adb298388d\":\"1b47061264138c4ac30d75fd1eb44270\",\"plaintext\":\"\\\"a\\\"\"}]"}`,
		},
		"nested ciphertext": {
			in: Secret(ArrayOf(Secret(String("a")))), o: StateOptions{Encrypter: echo{}},
			want: k + secretSig + `,"ciphertext":"[{\"4dabf18193072939515e22adb298388d\":\"1b47061264138c4ac30d75fd1eb44270\",\"ciphertext\":\"\\\"a\\\"\"}]"}`,
		},
		"blinded":            {in: Secret(String("a")), o: StateOptions{Secrets: SecretsBlinded}, want: k + secretSig + `,"ciphertext":"[secret]"}`},
		"masked":             {in: ArrayOf(Secret(String("a"))), o: StateOptions{Secrets: SecretsMasked}, want: `["[secret]"]`},
		"secret output":      {in: OutputOf(Output{Known: true, Element: Number(1), Secret: true}), o: StateOptions{Encrypter: echo{}}, want: k + secretSig + `,"ciphertext":"1"}`},
		"unknown output":     {in: OutputOf(Output{}), want: `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`},
		"text asset":         {in: TextAsset("x"), want: k + assetSig + `,"hash":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","text":"x"}`},
		"empty text asset":   {in: TextAsset(""), want: k + assetSig + `,"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`},
		"elided text":        {in: TextAsset("x"), o: StateOptions{ElideText: true}, want: k + assetSig + `,"hash":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","text":"<contents elided>"}`},
		"archive of members": {in: MemberArchive(object("m", PathAsset("f"))), want: k + archiveSig + `,"assets":{"m":` + k + assetSig + `,"path":"f"}}}`},
		"reference":          {in: Of(Reference{URN: "u", ID: String("i")}), want: k + `"5cf8f73096256a8f31e491e813e4eb8e","id":"i","packageVersion":"","urn":"u"}`},
		"component":          {in: Of(Reference{URN: "u", PackageVersion: "1"}), want: k + `"5cf8f73096256a8f31e491e813e4eb8e","packageVersion":"1","urn":"u"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := AppendStateValue(t.Context(), []byte("prefix "), tt.in, tt.o)
			require.NoError(t, err)
			require.Equal(t, "prefix "+tt.want, string(got))
		})
	}
}

type echo struct{}

func (echo) Encrypt(_ context.Context, text string) (string, error) { return text, nil }
func (echo) Decrypt(_ context.Context, text string) (string, error) { return text, nil }

func TestOldReferenceFormsAreRead(t *testing.T) {
	const head = `{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"u"`
	tests := map[string]struct {
		text string
		want Value
	}{
		"string":        {`,"id":{"V":"i"}}`, String("i")},
		"object":        {`,"id":{"V":{"x":1}}}`, Computed()},
		"null":          {`,"id":{"V":null}}`, Null},
		"empty object":  {`,"id":{}}`, Null},
		"plain":         {`,"id":"i"}`, String("i")},
		"empty":         {`,"id":""}`, Computed()},
		"absent":        {`}`, Null},
		"null in plain": {`,"id":null}`, Null},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := DecodeStateValue(t.Context(), []byte(head+tt.text), StateDecodeOptions{})
			require.NoError(t, err)
			require.True(t, Identical(tt.want, v.AsReference().ID))
		})
	}
}

func TestMalformedStateValuesAreRefused(t *testing.T) {
	const k = `"4dabf18193072939515e22adb298388d"`
	tests := map[string]struct{ json, want string }{
		"unrecognized signature": {`{` + k + `:"x"}`, `unrecognized signature 'x' in property map for "p[0]"`},
		"signature not a string": {`{` + k + `:[]}`, `malformed special value for "p[0]": signature not a string`},
		"secret without text":    {`{` + k + `:"1b47061264138c4ac30d75fd1eb44270"}`, `malformed secret for "p[0]": it must have one of ciphertext and plaintext`},
		"secret with both texts": {`{` + k + `:"1b47061264138c4ac30d75fd1eb44270","ciphertext":"1","plaintext":"1"}`, `malformed secret for "p[0]": it must have one of ciphertext and plaintext`},
		"secret not JSON":        {`{` + k + `:"1b47061264138c4ac30d75fd1eb44270","ciphertext":"hunter2"}`, `malformed secret for "p[0]": its text is not JSON`},
		"number bits":            {`{` + k + `:"8ad145fe-0d11-4827-bfd7-1abcbf086f5c","value":"7ff"}`, `malformed number for "p[0]": value is not 16 hexadecimal digits`},
		"archive member":         {`{` + k + `:"0def7320c3a5731c473e5ecbe6d01bc7","assets":{"m":"x"}}`, `archive member "p[0].m" is not an asset or archive`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeState(t.Context(), []byte(`{"p":[`+tt.json+`]}`), StateDecodeOptions{Decrypter: echo{}})
			require.EqualError(t, err, tt.want)
		})
	}
	for name, text := range map[string]string{"array": "[]", "not JSON": "{", "two values": "{}{}"} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeState(t.Context(), []byte(text), StateDecodeOptions{})
			require.Error(t, err)
		})
	}
}

func TestCrypterErrorsNameTheSecret(t *testing.T) {
	c := &rot{fail: errors.New("wrong passphrase")}
	m := object("a", ArrayOf(Secret(String("x"))))
	_, err := EncodeState(t.Context(), m, StateOptions{Encrypter: c})
	require.ErrorIs(t, err, c.fail)
	require.EqualError(t, err, `encrypt "a[0]": wrong passphrase`)
	_, err = EncodeState(t.Context(), m, StateOptions{})
	require.EqualError(t, err, `the secret "a[0]" cannot be written: there is no secrets provider`)

	text, err := EncodeState(t.Context(), m, StateOptions{Encrypter: &rot{}})
	require.NoError(t, err)
	_, err = DecodeState(t.Context(), text, StateDecodeOptions{Decrypter: c})
	require.ErrorIs(t, err, c.fail)
}

// always returns one ciphertext.
type always string

func (a always) Encrypt(context.Context, string) (string, error) { return string(a), nil }

func TestACiphertextThatNoStateCanHoldIsRefused(t *testing.T) {
	for ciphertext, why := range map[always]string{
		"":       `encrypt "a": the secrets provider has returned an empty ciphertext`,
		"v1\xff": `encrypt "a": the secrets provider has returned a ciphertext that is not UTF-8`,
	} {
		for _, crypter := range []string{"", "k"} {
			_, err := EncodeState(t.Context(), object("a", Secret(String("x"))), StateOptions{Encrypter: ciphertext, Crypter: crypter})
			require.EqualError(t, err, why)
		}
	}
}

func TestCiphertextIsKeptForTheSameCrypterOnly(t *testing.T) {
	c := &rot{}
	m := object("a", Secret(String("x")))
	first, err := EncodeState(t.Context(), m, StateOptions{Encrypter: c, Crypter: "k1"})
	require.NoError(t, err)
	again, err := EncodeState(t.Context(), m, StateOptions{Encrypter: c, Crypter: "k1"})
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	require.EqualValues(t, 1, c.calls.Load())

	other, err := EncodeState(t.Context(), m, StateOptions{Encrypter: c, Crypter: "k2"})
	require.NoError(t, err)
	require.NotEqual(t, string(first), string(other))
	_, err = EncodeState(t.Context(), m, StateOptions{Encrypter: c})
	require.NoError(t, err)
	require.EqualValues(t, 3, c.calls.Load())
}

func TestEqualSecretOfANewRunReusesTheCiphertext(t *testing.T) {
	c := &rot{}
	o := StateOptions{Encrypter: c, Crypter: "k"}
	old := object("a", ArrayOf(Of(object("s", Secret(String("x"))))), "b", Secret(Number(1)))
	want, err := EncodeState(t.Context(), old, o)
	require.NoError(t, err)

	same := object("a", ArrayOf(Of(object("s", Secret(String("x"))))), "b", Secret(Number(1)))
	same.ReuseCiphertexts(old)
	got, err := EncodeState(t.Context(), same, o)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	changed := object("b", Secret(Number(2)))
	changed.ReuseCiphertexts(old)
	got, err = EncodeState(t.Context(), changed, o)
	require.NoError(t, err)
	require.NotContains(t, string(want), string(got[1:len(got)-1]))
	require.EqualValues(t, 3, c.calls.Load())
}

func TestSealedSecretCannotLeaveInTheClear(t *testing.T) {
	c := &rot{}
	text, err := EncodeState(t.Context(), object("a", Secret(String("x"))), StateOptions{Encrypter: c})
	require.NoError(t, err)
	m, err := DecodeState(t.Context(), text, StateDecodeOptions{Crypter: "k"})
	require.NoError(t, err)
	require.True(t, m.At("a").IsSealed())
	require.True(t, m.At("a").AsSecret().IsUnknown())
	for name, encode := range map[string]func() error{
		"other crypter": func() error {
			_, err := EncodeState(t.Context(), m, StateOptions{Encrypter: c, Crypter: "j"})
			return err
		},
		"plaintext": func() error {
			_, err := EncodeState(t.Context(), m, StateOptions{Secrets: SecretsPlaintext})
			return err
		},
		"wire": func() error { _, err := MarshalStruct(m, keepAll); return err },
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, encode(), `the secret "a" has not been decrypted`) })
	}
}

func TestEmptyStateIsTheEmptyObject(t *testing.T) {
	for _, text := range []string{"", "null", "{}"} {
		m, err := DecodeState(t.Context(), []byte(text), StateDecodeOptions{})
		require.NoError(t, err)
		require.Zero(t, m.Len())
	}
}
