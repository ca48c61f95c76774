package display

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	p := stepPrinter{Options: Options{Width: func() int { return 40 }}, style: style{true}}
	row := " " + p.style.paint(magenta, "+-") + " ├─ sim:index:Resource web      replace because `region` changed"
	require.Equal(t, strings.Join([]string{
		" +- ├─ sim:index:Resource web",
		"           replace because `region`",
		"           changed",
	}, "\n"), ansi.Strip(p.fitted(row)))
	require.Equal(t, "    short\n\n    lines", p.fitted("    short\n\n    lines"))
}

// Nothing but spaces is lost, and only a word that has a line of its own is wider than the terminal.
func TestFittedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(minWrapped, 80).Draw(t, "width")
		line := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-zé│ +]{0,40}`)).Draw(t, "words"), " ")
		p := stepPrinter{Options: Options{Width: func() int { return width }}}
		fitted := p.fitted(line)
		require.Equal(t, strings.Fields(line), strings.Fields(fitted))
		for _, l := range strings.Split(fitted, "\n") {
			require.True(t, ansi.StringWidth(l) <= width || len(strings.Fields(l)) == 1, "%q", l)
		}
	})
}
