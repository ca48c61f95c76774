package yamlfault_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/yamlfault"
)

// message returns the YAML library's error about a text, without a line.
func message(t *testing.T, text string) string {
	var n yaml.Node
	err := yaml.Unmarshal([]byte(text), &n)
	require.Error(t, err)
	return regexp.MustCompile(`^yaml: (line \d+: )?`).ReplaceAllString(err.Error(), "")
}

func TestThePlaceOfAMistakeIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want yamlfault.Place
	}{
		"a list that is open when the text ends":     {"a: 1\nno: [\n\n\n", yamlfault.Place{Line: 2, Column: 5, End: 6}},
		"a list with an item, open at the end":       {"a: 1\nno: [x,\n  y\n", yamlfault.Place{Line: 2, Column: 5, End: 6}},
		"an object that is open when the text ends":  {"a: {b: 1", yamlfault.Place{Line: 1, Column: 4, End: 5}},
		"a quotation that is open when text ends":    {"a: \"b\nc: d\n", yamlfault.Place{Line: 1, Column: 4, End: 5}},
		"a list that is open when a key follows":     {"a: [1, 2\nb: 3\n", yamlfault.Place{Line: 2, Column: 2, End: 3, Opened: "the list that line 1 opens"}},
		"a quotation mark in a quoted text":          {"x: {a: \"say \"aloud\"\", b: 1}\n", yamlfault.Place{Line: 1, Column: 14, End: 19}},
		"a quotation mark behind wide letters":       {"x: {größe: \"ü \"laut\"\"}\n", yamlfault.Place{Line: 1, Column: 16, End: 20}},
		"a key that is indented less than the first": {"x:\n   a: 1\n  bad: 2\n", yamlfault.Place{Line: 3, Column: 3, End: 6}},
		"a key that is indented more than the first": {"x:\n  a: 1\n   b: 2\n", yamlfault.Place{Line: 3, Column: 5, End: 6}},
		"a tab":                      {"a:\n\tb: 1\n", yamlfault.Place{Line: 2, Column: 1, End: 2}},
		"an unknown escape":          {"a: \"\\q\"\n", yamlfault.Place{Line: 1, Column: 5, End: 6}},
		"a comma instead of an item": {"a: [, 1]\n", yamlfault.Place{Line: 1, Column: 5, End: 6}},
		"a second quoted text":       {"a: \"b\" c\n", yamlfault.Place{Line: 1, Column: 8, End: 9}},
		"a text without a key":       {"a: 1\nno key\nb: 2\n", yamlfault.Place{Line: 3, Column: 1, End: 2}},
		"an item among keys":         {"a: 1\n- b\n", yamlfault.Place{Line: 2, Column: 1, End: 2}},
		"a key among items":          {"- a\n-b: 1\n", yamlfault.Place{Line: 2, Column: 1, End: 3}},
		"an unknown alias":           {"# see *b\na: &b 1\nc: *bad\n", yamlfault.Place{Line: 3, Column: 4, End: 5}},
		"a sign of no token":         {"a: 1\n@b: 2\n", yamlfault.Place{Line: 2, Column: 1, End: 2}},
		"an unknown block header":    {"a: |x\n  b\n", yamlfault.Place{Line: 1, Column: 5, End: 6}},
		"nested brackets":            {"a:\n  {b: [1, {c: 2], d: 3}\n", yamlfault.Place{Line: 2, Column: 16, End: 17}},
		"nested brackets of more lines": {"a:\n  - [1,\n     {b: 2,\n      c: 3],\n   4]\n",
			yamlfault.Place{Line: 4, Column: 11, End: 12, Opened: "the object that line 3 opens"}},
		"line ends of Windows": {"a: 1\r\nno: [\r\n", yamlfault.Place{Line: 2, Column: 5, End: 6}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := yamlfault.Find(c.text, message(t, c.text))
			require.True(t, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestAMistakeThatIsNotSeenHasNoPlace(t *testing.T) {
	for _, text := range []string{"", "a: 1", "a: [", "a: [1\nb: 2"} {
		_, ok := yamlfault.Find(text, "another message")
		require.False(t, ok)
	}
}

func TestAMistakeInTooManyBracketsHasNoPlace(t *testing.T) {
	for depth, found := range map[int]bool{90: true, 150: false, 50_000: false} {
		text := "a: " + strings.Repeat("[", depth) + "}"
		got, ok := yamlfault.Find(text, message(t, text))
		require.Equal(t, found, ok, "%d: %v", depth, got)
		if found {
			require.Equal(t, len(text), got.Column)
		}
	}
}

func FuzzPlacesAreInTheText(f *testing.F) {
	for _, text := range []string{"a: [", "\n\n", "a: \"", "{\"a\": \xff", "\ufeffa: [", "a: b: c\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(text), &n)
		if err == nil {
			return
		}
		p, ok := yamlfault.Find(text, regexp.MustCompile(`^yaml: (line \d+: )?`).ReplaceAllString(err.Error(), ""))
		if !ok {
			return
		}
		require.Positive(t, p.Line)
		require.LessOrEqual(t, p.Line, strings.Count(text, "\n")+1)
		require.Positive(t, p.Column)
		require.Greater(t, p.End, p.Column)
	})
}
