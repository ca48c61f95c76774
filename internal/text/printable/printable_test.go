package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// hostile are sequences that terminals execute or readers do not see.
var hostile = map[string]string{
	"the clipboard": "\x1b]52;c;cm0gLXJm\x07", "the title": "\x1b]0;t\x1b\\", "the screen": "\x1b[2J", "colour": "\x1b[8m", "a reset": "\x1bc", "C1": "\u009b2J",
	"C1 in a byte": "\x9b2J", "OSC in a byte": "\x9d52;c;x\x9c", "direction": "\u202e\u2066", "a carriage return": "a\rb", "no width": "\u200b\u200d\u2060\ufeff",
	"a backspace": "a\bb", "delete": "\x7f", "a line of Unicode": "\u2028\u2029", "tags": "\U000e0041", "a filler": "\u3164\u115f", "half a character": "\xe2\x80",
}

func requireSafe(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.False(t, strings.ContainsFunc(text, IsUnsafe), "%q", text)
}

func TestNothingOfOthersControlsATerminal(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			text = "before " + text + " after\n\tend"
			requireSafe(t, Text(text))
			requireSafe(t, Line(text))
			require.NotContains(t, Line(text), "\n")
			for _, pieces := range [][]string{{text}, strings.Split(text, "")} {
				var out bytes.Buffer
				w := NewWriter(&out)
				for _, p := range pieces {
					n, err := w.Write([]byte(p))
					require.NoError(t, err)
					require.Equal(t, len(p), n)
				}
				require.NoError(t, w.Flush())
				requireSafe(t, out.String())
				require.True(t, strings.HasPrefix(out.String(), "before ") && strings.HasSuffix(out.String(), " after\n\tend"))
			}
		})
	}
}

func TestStyledTextsKeepTheirColours(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31;1mred\x1b[m":                    "\x1b[31;1mred\x1b[m",
		"\r\x1b[2K| waiting":                     "\r\x1b[2K| waiting",
		"\x1b[38;2;1;2;3mx":                      "\x1b[38;2;1;2;3mx",
		"\x1b[2Jx":                               `\x1b[2Jx`,
		"\x1b]52;c;x\x07":                        `\x1b]52;c;x\x07`,
		"a\rb\r\nc":                              "a\\x0db\nc",
		"\x1b[31":                                `\x1b[31`,
		"\x1b[" + strings.Repeat("1", 100) + "m": `\x1b[` + strings.Repeat("1", 100) + "m",
	} {
		for _, pieces := range [][]string{{in}, strings.Split(in, "")} {
			var out bytes.Buffer
			w := NewStyledWriter(&out)
			for _, p := range pieces {
				_, err := w.Write([]byte(p))
				require.NoError(t, err)
			}
			require.NoError(t, w.Flush())
			require.Equal(t, want, out.String())
		}
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(map[string]string{text: text})
			require.NoError(t, err)
			after := JSON(before)
			requireSafe(t, string(after))
			var one, other map[string]string
			require.NoError(t, json.Unmarshal(before, &one))
			require.NoError(t, json.Unmarshal(after, &other))
			require.Equal(t, one, other)
		})
	}
}

func FuzzWriter(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		requireSafe(t, Text(text))
		requireSafe(t, Line(text))
		cut := min(int(at), len(text))
		var out bytes.Buffer
		w := NewWriter(&out)
		for _, p := range []string{text[:cut], text[cut:]} {
			_, err := w.Write([]byte(p))
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
		requireSafe(t, out.String())
		if plain, err := json.Marshal(text); err == nil {
			var same, want string
			require.NoError(t, json.Unmarshal(JSON(plain), &same))
			require.NoError(t, json.Unmarshal(plain, &want))
			require.Equal(t, want, same)
		}
	})
}
