package syntax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/excerpt"
)

func TestTheNearestNameIsSuggested(t *testing.T) {
	require.Equal(t, `did you mean "network"?`, Nearest("netwrok", []string{"net", "network"}))
	require.Empty(t, Nearest("entirely", []string{"network"}))
}

func TestPlacesCountCharactersOfTheFile(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       string // the line, and the carets beneath the first "${...}"
	}{
		{"a.yaml", "a: x ${one}", "a: x ${one}\n       ^^^"},
		{"a.yaml", `"ä": "$${no} ö ${one.x}"`, "\"ä\": \"$${no} ö ${one.x}\"\n                 ^^^^^"},
		{"a.yaml", "a: 'it''s ${one}'", "a: 'it''s ${one}'\n            ^^^"},
		{"a.yaml", "a: |\n  first\n  then ${one}", "  then ${one}\n         ^^^"},
		{"a.json", "{\t\"a\\/b\": \"\\ud83d\\ude00 ${one}\"}", "{ \"a\\/b\": \"\\ud83d\\ude00 ${one}\"}\n                          ^^^"},
		{"a.yaml", "a: " + strings.Repeat("x", 200) + "${one} " + strings.Repeat("y", 200),
			"…" + strings.Repeat("x", 58) + "${one} " + strings.Repeat("y", 58) + "…\n" + strings.Repeat(" ", 61) + "^^^"},
	} {
		f, root, diagnostics := Parse(c.file, c.text)
		require.Empty(t, diagnostics)
		n := root.Entries[0].Value
		parts, diagnostic := f.Interpolate(n.Text, n.Range)
		require.Nil(t, diagnostic)
		for _, p := range parts {
			if p.Access != nil {
				r := p.Access.Range
				shown := excerpt.Of(r.Line, f.line(r.Line), r.Column, r.End)
				lines := strings.Split(shown, "\n")
				require.Equal(t, c.want, lines[0][len("   1 | "):]+"\n"+lines[1][len("     | "):])
				break
			}
		}
	}
}

func TestAccessesAreWrittenAsTheyAreRead(t *testing.T) {
	for _, text := range []string{"a", "a.b", "a[0].b", `a["b.c"]`, `["a.b"].c`, `a["say \"x\""][3]`} {
		access, rest, err := parseAccess(text + "}")
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, text, access.String())
	}
}
