package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/excerpt"
)

func TestCaretsAreUnderThePart(t *testing.T) {
	for name, c := range map[string]struct {
		line        string
		column, end int
		want        string
	}{
		"a word":              {"a: bucket", 4, 10, "   7 | a: bucket\n     |    ^^^^^^"},
		"a tab":               {"\ta: b", 1, 2, "   7 |  a: b\n     | ^"},
		"other scripts":       {"größe: x", 1, 6, "   7 | größe: x\n     | ^^^^^"},
		"an empty line":       {"", 1, 2, "   7 | \n     | ^"},
		"beyond the end":      {"ab", 9, 12, "   7 | ab\n     |   ^"},
		"the end of a long":   {strings.Repeat("x", 300) + "yy", 301, 303, "   7 | …" + strings.Repeat("x", 60) + "yy\n     | " + strings.Repeat(" ", 61) + "^^"},
		"the start of a long": {"yy" + strings.Repeat("x", 300), 1, 3, "   7 | yy" + strings.Repeat("x", 60) + "…\n     | ^^"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, excerpt.Of(7, c.line, c.column, c.end)) })
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a: b", 1, 3)
	f.Add("\t\xff", 0, -4)
	f.Fuzz(func(t *testing.T, line string, column, end int) {
		if column < 1 || strings.ContainsAny(line, "\n") {
			return
		}
		lines := strings.Split(excerpt.Of(1, line, column, end), "\n")
		require.Len(t, lines, 2)
		require.LessOrEqual(t, utf8.RuneCountInString(lines[0]), 7+200)
	})
}
