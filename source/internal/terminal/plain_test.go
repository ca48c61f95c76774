package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainRemovesControlSequences(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"as it is <{x}> 100%":               "as it is <{x}> 100%",
		"<{%reset%}>a<{%fg 1%}>b<{%bold%}>": "ab",
		"\x1b[1;31mred\x1b[0m":              "red",
		"\x1b]0;title\x07x":                 "x",
		"\x1b]9;4;3;\x1b\\x":                "x",
		"\x1b[2Kline\x1b(B":                 "line(B",
		"unfinished \x1b":                   "unfinished ",
		"\x1b]unfinished":                   "]unfinished",
	} {
		require.Equal(t, want, Plain(text), "%q", text)
	}
}

func TestStreamsHaveNumbersOfTheirOwn(t *testing.T) {
	require.Equal(t, StreamID("a"), StreamID("a"))
	require.NotEqual(t, StreamID("a stdout"), StreamID("a stderr"))
	require.Positive(t, StreamID(""))
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"\x1b[1m", "<{%x%}>", "\x1b]0;\x1b\x1b", "a\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.False(t, strings.Contains(Plain(s), "\x1b"))
	})
}
