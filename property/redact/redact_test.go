package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
)

// setOf returns a set of secrets.
func setOf(secrets ...string) *redact.Set {
	s := &redact.Set{}
	for _, text := range secrets {
		s.Add(text)
	}
	return s
}

func marshalled(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// unescaped is JSON as JavaScript writes it.
func unescaped(t require.TestingT, v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return b.String()
}

const key = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu
NMoSfm76oqFvAp8G=
-----END PRIVATE KEY-----
`

func TestASecretIsMaskedInEachForm(t *testing.T) {
	const secret = "p&ss \"wörd\" <7>/+~!'x"
	s := setOf(secret)
	for name, form := range map[string]string{
		"as it is":            secret,
		"in JSON":             unescaped(t, secret),
		"in JSON for HTML":    marshalled(t, secret),
		"in JSON in JSON":     unescaped(t, unescaped(t, map[string]string{"a": secret})),
		"quoted":              fmt.Sprintf("%q", secret),
		"quoted in ASCII":     fmt.Sprintf("%+q", secret),
		"in a query":          url.QueryEscape(secret),
		"in a path":           url.PathEscape(secret),
		"in the user of URLs": (&url.URL{Scheme: "https", Host: "h", User: url.UserPassword("u", secret)}).String(),
		"as in JavaScript":    "p%26ss%20%22w%C3%B6rd%22%20%3C7%3E%2F%2B~!'x",
		"in lower case":       "p%26ss%20%22w%c3%b6rd%22%20%3c7%3e%2f%2b~!'x",
		"in hex":              hex.EncodeToString([]byte(secret)),
		"in upper-case hex":   fmt.Sprintf("%X", secret),
		"in base64":           base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 for URLs":  base64.URLEncoding.EncodeToString([]byte(secret)),
		"in raw base64":       base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		t.Run(name, func(t *testing.T) {
			text := s.Mask("before " + form + " after")
			require.Contains(t, text, redact.Mask)
			require.NotContains(t, text, "7")
			require.NotContains(t, text, "37", "in hex")
			require.Less(t, len(text), len("before https://u:@h after")+len(redact.Mask)+len(`{\"\":\"\"}\n....`), text)
		})
	}
}

// The text around a secret in base64 is not masked, and of the secret at most some bits at each end are left.
func TestASecretIsMaskedWhereverItIsInBase64(t *testing.T) {
	const secret = "correct horse battery"
	s := setOf(secret)
	for before := range 6 {
		for after := range 6 {
			text := "user-x"[:before] + secret + "\nat.db"[:after]
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				masked := s.Mask(encoding.EncodeToString([]byte(text)))
				require.Contains(t, masked, redact.Mask)
				require.LessOrEqual(t, len(strings.Replace(masked, redact.Mask, "", 1)), (before+2)/3*4+(after+2)/3*4+2, masked)
			}
		}
	}
}

func TestTheLinesOfASecretAreMaskedOneByOne(t *testing.T) {
	s := setOf(key)
	for line := range strings.Lines(key) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "-----") {
			require.Equal(t, line, s.Mask(line), "what is in every key is no secret")
		} else {
			require.Equal(t, "  [secret]\r\n", s.Mask("  "+line+"\r\n"))
		}
	}
	require.Equal(t, "key: [secret]\n", s.Mask("key: "+key))
	require.Equal(t, "[secret]", s.Mask(strings.ReplaceAll(strings.TrimSpace(key), "\n", `\n`)))
}

// Tools write long texts in base64 in lines.
func TestTheLinesOfASecretInBase64AreMasked(t *testing.T) {
	s := setOf(key)
	text := base64.StdEncoding.EncodeToString([]byte(key))
	for _, width := range []int{64, 76} {
		for at := 0; at+width < len(text); at += width {
			require.Equal(t, redact.Mask, s.Mask(text[at:at+width]), "characters %d to %d", at, at+width)
		}
	}
}

func TestWhiteSpaceAroundASecretDoesNotBelongToIt(t *testing.T) {
	require.Equal(t, "is '[secret]'.", setOf(" hunter2\n").Mask("is 'hunter2'."))
	require.Equal(t, "is ' [secret]\n'.", setOf("hunter2").Mask("is ' hunter2\n'."))
}

func TestTextsThatAreNoSecretsByThemselvesAreNotMasked(t *testing.T) {
	for _, text := range []string{"", "  ", "a", "ab", "12", "443", "-1.", "true", "False", "null", "undefined"} {
		require.Equal(t, "of "+text+".", setOf(text).Mask("of "+text+"."))
	}
	for _, text := range []string{"abc", "4430", "truth"} {
		require.Equal(t, "of [secret].", setOf(text).Mask("of "+text+"."))
	}
}

func TestOverlappingSecretsAreMaskedAsOne(t *testing.T) {
	s := setOf("hunter2-db", "db-password", "password-hunter")
	require.Equal(t, "[secret]!", s.Mask("hunter2-db-password-hunter!"))
	require.Equal(t, "[secret] [secret]", s.Mask("hunter2-db db-password"))
	require.Equal(t, "[secret]", setOf("aba", "abacus-abb").Mask("abacus-abb"))
}

// A text may be masked more than once on its way.
func TestMaskingTwiceIsMaskingOnce(t *testing.T) {
	s := setOf("secret", "cre")
	once := s.Mask("a secret cre")
	require.Equal(t, "a [secret] [secret]", once)
	require.Equal(t, once, s.Mask(once))
}

func TestWithoutSecretsTextsStayAsTheyAre(t *testing.T) {
	var none *redact.Set
	none.Add("hunter2")
	none.Learn(property.NewMap(map[string]property.Value{"a": property.Secret(property.String("hunter2"))}))
	require.Equal(t, "hunter2 [secret]", none.Mask("hunter2 [secret]"))
	require.Equal(t, "hunter2 [secret][secret]", (&redact.Set{}).Mask("hunter2 [secret][secret]"))
	err := errors.New("hunter2")
	require.Same(t, err, none.Error(err))
}

func TestWhatIsInASecretIsLearnedAndNothingElse(t *testing.T) {
	s := &redact.Set{}
	text := property.String
	s.Learn(property.NewMap(map[string]property.Value{
		"plain": text("plain text"),
		"list":  property.ArrayOf(text("an element"), property.Secret(text("in a list"))),
		"secret": property.Secret(property.Of(property.NewMap(map[string]property.Value{
			"name": text("in an object"), "deep": property.ArrayOf(property.Number(54321), property.Secret(text("in a secret"))), "port": property.Number(443),
			"file": property.Of(property.Asset{Kind: property.KindText, Text: "in an asset"}), "on": property.Bool(true), "more": property.Computed(),
		}))),
		"archive": property.Of(property.Archive{Kind: property.KindMembers, Members: property.NewMap(map[string]property.Value{
			"a.txt": property.Secret(property.Of(property.Asset{Kind: property.KindText, Text: "in an archive"})),
		})}),
		"output":  property.OutputOf(property.Output{Known: true, Secret: true, Element: text("an output")}),
		"unknown": property.OutputOf(property.Output{Secret: true}),
	}))
	for _, secret := range []string{"in a list", "in an object", "54321", "in a secret", "in an asset", "in an archive", "an output"} {
		require.Equal(t, redact.Mask, s.Mask(secret))
	}
	for _, public := range []string{"plain text", "an element", "443", "true", "port", "a.txt"} {
		require.Equal(t, public, s.Mask(public))
	}
}

func TestASecretStructureIsMaskedAsJSON(t *testing.T) {
	s := &redact.Set{}
	s.LearnValue(property.Secret(property.Of(property.NewMap(map[string]property.Value{
		"b": property.Number(1), "a": property.ArrayOf(property.String("x<y"), property.Null),
	}))))
	require.Equal(t, "is [secret]", s.Mask(`is {"a":["x<y",null],"b":1}`))
	require.Equal(t, "is [secret]", s.Mask("is "+base64.StdEncoding.EncodeToString([]byte(`{"a":["x<y",null],"b":1}`))))
}

func TestTheValuesInASecretDocumentAreMasked(t *testing.T) {
	s := setOf(marshalled(t, map[string]any{"private_key": key, "pins": []int{12345, 7}, "inner": `{"a":"nested"}`, "ok": true}))
	for _, secret := range []string{"NMoSfm76oqFvAp8G=", "12345", "nested"} {
		require.Equal(t, redact.Mask, s.Mask(secret))
	}
	require.Equal(t, "ok: true, 7, private_key", s.Mask("ok: true, 7, private_key"))
}

func TestAnErrorIsMaskedAndWrapsWhatItWas(t *testing.T) {
	s := setOf("hunter2")
	cause := &url.Error{Op: "get", URL: "https://hunter2@host", Err: errors.New("not with horse-battery")}
	err := s.Error(fmt.Errorf("login: %w", cause))
	require.EqualError(t, err, `login: get "https://[secret]@host": not with horse-battery`)
	var found *url.Error
	require.ErrorAs(t, err, &found)
	require.ErrorIs(t, err, cause)
	s.Add("horse-battery")
	require.EqualError(t, s.Error(err), `login: get "https://[secret]@host": not with [secret]`)
	require.NoError(t, s.Error(nil))
	without := errors.New("nothing in it")
	require.Same(t, without, s.Error(without))
}

func TestSecretsAreLearnedWhileTextsAreMasked(t *testing.T) {
	s := &redact.Set{}
	p := pool.New()
	for i := range 8 {
		p.Go(func() {
			for j := range 100 {
				secret := fmt.Sprintf("secret-%d-%d", i, j)
				s.Add(secret)
				if got := s.Mask("it is " + secret); got != "it is [secret]" {
					panic(got)
				}
			}
		})
	}
	p.Wait()
}

// Whatever the secrets are and whatever surrounds them, none of them is left in a text.
func TestNoSecretIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few characters, so that secrets begin alike, overlap and contain each other.
		secret := rapid.StringMatching(`[ab"\n é{]{3,12}`)
		secrets := rapid.SliceOfN(secret, 1, 6).Draw(t, "secrets")
		s := setOf(secrets...)
		wrap := rapid.SampledFrom([]func(string) string{
			func(text string) string { return text },
			func(text string) string { return unescaped(t, text) },
			func(text string) string { return marshalled(t, text) },
			url.QueryEscape, url.PathEscape,
			func(text string) string { return hex.EncodeToString([]byte(text)) },
		})
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "pieces") {
			b.WriteString(rapid.StringMatching(`[ab ]{0,4}`).Draw(t, "around"))
			b.WriteString(wrap.Draw(t, "form")(rapid.SampledFrom(secrets).Draw(t, "secret")))
		}
		masked := s.Mask(b.String())
		require.Equal(t, masked, s.Mask(masked))
		for _, secret := range secrets {
			if secret = strings.TrimSpace(secret); len(secret) < 3 {
				continue
			}
			for _, form := range []string{
				secret, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(unescaped(t, secret)), `"`), `"`), url.QueryEscape(secret), hex.EncodeToString([]byte(secret)),
			} {
				require.NotContains(t, strings.ReplaceAll(masked, redact.Mask, "\x00"), form, "in %q", b.String())
			}
		}
	})
}

// many returns a set of n secrets like generated passwords.
func many(n int) *redact.Set {
	s := &redact.Set{}
	for i := range n {
		s.Add(base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d secret %d", i*7919, i)))
	}
	return s
}

// BenchmarkMask masks a message of about a kilobyte without secrets.
func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("the resource urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs has been updated. ", 13)
	for _, n := range []int{0, 1, 100, 30_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := many(n)
			s.Mask(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Mask(text)
			}
		})
	}
}

// BenchmarkUpdate learns the secrets of a stack with 10,000 resources and masks the first text.
func BenchmarkUpdate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		many(30_000).Mask("a text")
	}
}

// BenchmarkLearn looks for secrets in the properties of a resource: in properties without secrets, and in properties with
// secrets that are in the set already.
func BenchmarkLearn(b *testing.B) {
	values := map[string]property.Value{}
	for i := range 20 {
		values[fmt.Sprintf("property%d", i)] = property.String("the value of a property")
	}
	plain := property.NewMap(values)
	values["password"] = property.Secret(property.String("correct horse battery"))
	for name, m := range map[string]property.Map{"plain": plain, "secret": property.NewMap(values)} {
		b.Run(name, func(b *testing.B) {
			s := &redact.Set{}
			for b.Loop() {
				s.Learn(m)
			}
		})
	}
}

func TestALogHasNoSecrets(t *testing.T) {
	s := setOf("hunter2")
	var b strings.Builder
	log := slog.New(s.Handler(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	log.With("with", "hunter2").WithGroup("g").Warn("it is hunter2",
		"error", errors.New("not hunter2"), "n", 7, slog.Group("inner", "text", "hunter2"), "any", struct{ A string }{"hunter2"})
	require.Equal(t, `level=WARN msg="it is [secret]" with=[secret] g.error="not [secret]" g.n=7 g.inner.text=[secret] g.any={[secret]}`+"\n", b.String())
}
