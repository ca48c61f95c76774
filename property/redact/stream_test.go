package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/property/redact"
)

// inPieces masks a text that comes in pieces, which end at the given places.
func inPieces(s *redact.Set, text string, ends ...int) string {
	var out strings.Builder
	stream, from := s.Stream(), 0
	for _, end := range append(ends, len(text)) {
		out.WriteString(stream.Next(text[from:end]))
		from = end
	}
	out.WriteString(stream.End())
	return out.String()
}

// formsOf are the forms of a secret by their names.
func formsOf(t require.TestingT, secret string) map[string]string {
	return map[string]string{
		"as it is": secret, "in JSON": unescaped(t, secret), "in JSON for HTML": marshalled(t, secret),
		"in JSON in JSON": unescaped(t, unescaped(t, secret)), "quoted": fmt.Sprintf("%q", secret), "quoted in ASCII": fmt.Sprintf("%+q", secret),
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "in hex": hex.EncodeToString([]byte(secret)),
		"in upper-case hex": fmt.Sprintf("%X", secret), "in base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 after one byte": base64.StdEncoding.EncodeToString([]byte(":" + secret)), "in base64 after two": base64.URLEncoding.EncodeToString([]byte("u:" + secret)),
	}
}

func TestASecretIsMaskedWhereverATextIsCut(t *testing.T) {
	const secret = "p&ss \"wörd\" <7>/+~!'x"
	s := setOf(secret, "another", "[sec", "x")
	for name, form := range formsOf(t, secret) {
		t.Run(name, func(t *testing.T) {
			text := "before " + form + " after"
			want := s.Mask(text)
			require.Contains(t, want, redact.Mask)
			for at := range len(text) + 1 {
				require.Equal(t, want, inPieces(s, text, at), "cut at %d", at)
				for also := at; also <= len(text); also++ {
					require.Equal(t, want, inPieces(s, text, at, also), "cut at %d and %d", at, also)
				}
			}
		})
	}
}

// Whatever the secrets are and wherever a text is cut, it is masked as a whole.
func TestPiecesAreMaskedAsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := setOf(rapid.SliceOfN(rapid.StringMatching(`[ab"\n é\[]{3,12}`), 0, 8).Draw(t, "secrets")...)
		text := rapid.StringMatching(`([ab"\n é\[]|\[secret\]|\\"|6[12]){0,60}`).Draw(t, "text")
		var ends []int
		for at := 0; at < len(text); {
			at = min(len(text), at+rapid.IntRange(0, 7).Draw(t, "length"))
			ends = append(ends, at)
		}
		require.Equal(t, s.Mask(text), inPieces(s, text, ends...))
	})
}

func TestAStreamHoldsBackOnlyWhatMayBeginASecret(t *testing.T) {
	s := setOf("hunter2", "correct horse battery")
	stream := s.Stream()
	require.Equal(t, "my password is ", stream.Next("my password is hunt"))
	require.False(t, stream.IsAtRest())
	require.Equal(t, "hunting. ", stream.Next("ing. correct"))
	require.Equal(t, "[secret]", stream.Next(" horse battery"))
	require.Equal(t, "!", stream.Next("!hun"))
	require.Equal(t, "hun", stream.End())
	require.True(t, stream.IsAtRest())
	require.Empty(t, stream.End())
}

func TestAStreamThatIsAbandonedShowsNoPartOfASecret(t *testing.T) {
	stream := setOf("hunter2").Stream()
	require.Equal(t, "is ", stream.Next("is hunt"))
	require.Equal(t, "[secret]", stream.Abandon())
	require.True(t, stream.IsAtRest())
	require.Empty(t, stream.Abandon())
}

func TestAStreamKnowsSecretsThatAreLearnedInBetween(t *testing.T) {
	s := setOf("hunter2")
	stream := s.Stream()
	require.Equal(t, "a ", stream.Next("a "))
	s.Add("horse-battery")
	require.Equal(t, "", stream.Next("horse-"))
	require.Equal(t, "[secret]", stream.Next("battery"))
	s.Add("staple")
	require.Equal(t, "", stream.Next("sta"), "touches a secret")
	require.Equal(t, "", stream.Next("ple"), "which it continues")
	require.Equal(t, ".", stream.Next("."))
}

func TestWithoutSecretsAStreamShowsPiecesAsTheyAre(t *testing.T) {
	for _, s := range []*redact.Set{nil, {}} {
		stream := s.Stream()
		require.Equal(t, "hun", stream.Next("hun"))
		require.True(t, stream.IsAtRest())
		require.Empty(t, stream.End())
	}
}

// A text is cut before its secrets are in the set.
func TestNoHalfOfASecretIsLeftWhereATextWasCut(t *testing.T) {
	const secret = "p&ss \"wörd\" <7>/+~!'x"
	s := setOf(secret)
	for name, form := range formsOf(t, secret) {
		t.Run(name, func(t *testing.T) {
			whole := "before " + form + strings.Repeat(" after", 20)
			end := strings.Index(s.Mask(whole), redact.Mask)
			for at := len("before "); at <= len("before ")+len(form); at++ {
				masked := s.Mask("error: " + redact.Cut(whole, at) + ": the end")
				require.Equal(t, masked, s.Mask(masked))
				before, after, cut := strings.Cut(masked, " ... (cut after ")
				require.True(t, cut, masked)
				require.Regexp(t, fmt.Sprintf(`^\d+ of %d bytes\): the end$`, len(whole)), after)
				before = strings.TrimPrefix(before, "error: ")
				left := strings.ReplaceAll(before, redact.Mask, "")
				require.LessOrEqual(t, len(left), end+len(`"\".."`)+1, "%d: %s", at, before)
			}
		})
	}
}

func TestATextMayHaveBeenCutMoreThanOnce(t *testing.T) {
	s := setOf("correct horse battery", "x ... (cut after 9 of 30 bytes) y")
	first, second := redact.Cut("it is correct horse battery", 17), redact.Cut("is correct, or correct horse", 20)
	require.Equal(t, "it is [secret] ... (cut after 17 of 27 bytes); is correct, or [secret] ... (cut after 20 of 28 bytes)", s.Mask(first+"; "+second))
	require.Equal(t, "[secret] ... (cut after 2 of 3 bytes)", s.Mask("x ... (cut after 9 of 30 bytes) ... (cut after 2 of 3 bytes)"))
}

func TestACutTextSaysHowLongItWas(t *testing.T) {
	long := strings.Repeat("é", 500)
	cut := redact.Cut(long, 101)
	require.Equal(t, strings.Repeat("é", 50)+" ... (cut after 100 of 1000 bytes)", cut)
	require.Equal(t, 1000, redact.Whole(cut))
	require.Equal(t, cut, redact.Cut(cut, 101), "no part of the note is cut")
	require.Equal(t, long, redact.Cut(long, 1000))
	require.Equal(t, 1000, redact.Whole(long))
	binary := strings.Repeat("\xff", 500)
	require.True(t, strings.HasPrefix(redact.Cut(binary, 100), binary[:97]+" ..."))
}
