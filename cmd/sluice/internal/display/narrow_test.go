package display

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	p := stepPrinter{Options: Options{Width: func() int { return 40 }}, style: style{true}}
	row := " " + p.style.paint(magenta, "+-") + " ├─ sim:index:Resource web      replace because `region` changed"
	require.Equal(t, strings.Join([]string{
		" +- ├─ sim:index:Resource web",
		"           replace because `region`",
		"           changed",
	}, "\n"), ansi.Strip(p.layout().fitted(row)))
	require.Equal(t, "    short\n\n    lines", p.layout().fitted("    short\n\n    lines"))
}

func TestDetailsAreBrokenBetweenWords(t *testing.T) {
	s := step(stages.OpUpdate, "x", values{"text": property.String("a")}, values{"text": property.String("many short words in a row that is wide")})
	var out strings.Builder
	require.NoError(t, WriteDetails(&out, Options{Width: func() int { return 40 }}, []stages.StepInfo{s}))
	require.Contains(t, out.String(), "  ~ text: \"a\" → \"many short words in a\n        row that is wide\"\n")
}

func TestANumberStaysWithWhatItCounts(t *testing.T) {
	p := stepPrinter{Options: Options{Width: func() int { return 40 }}}
	require.Equal(t, "    + 19 to create: 17 a:b:Bucket,\n          1 pulumi:providers:sim", p.layout().fitted("    + 19 to create: 17 a:b:Bucket, 1 pulumi:providers:sim"))
}

// Only spaces are lost, and only a word on a line of its own is wider than the terminal.
func TestFittedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(minWrapped, 80).Draw(t, "width")
		line := strings.Join(rapid.SliceOf(rapid.StringMatching(`[0-9]{0,2}|[a-zé│ +]{0,40}`)).Draw(t, "words"), " ")
		p := stepPrinter{Options: Options{Width: func() int { return width }}}
		fitted := p.layout().fitted(line)
		require.Equal(t, strings.Fields(line), strings.Fields(fitted))
		for _, l := range strings.Split(fitted, "\n") {
			require.True(t, ansi.StringWidth(l) <= width || len(strings.Fields(l)) == 1, "%q", l)
		}
	})
}

func TestNamesAreBrokenBetweenTheirPartsOnAScreen(t *testing.T) {
	line := "    [provider=urn:pulumi:dev::demo::pulumi:providers:sim::cloud::5a21c8d0-7d0c]"
	require.Equal(t, []string{
		"    [provider=urn:pulumi:dev::demo::",
		"         pulumi:providers:sim::",
		"         cloud::5a21c8d0-7d0c]",
	}, fitLines([]string{line}, 40, true))
	require.Equal(t, []string{line}, fitLines([]string{line}, 40, false), "a name that is copied from a terminal is whole")
}

func TestNotesFitTheTerminal(t *testing.T) {
	var out strings.Builder
	r := NewReport(Options{Title: "T", Out: &out, Width: func() int { return 40 }})
	r.Hold()
	text := "To leave at once, press ^C again: what is running would stay pending.\n    creating a"
	r.Note(text, text)
	r.Look(func(s Sight) {
		require.Equal(t, []string{"To leave at once, press ^C", "    again: what is running", "    would stay pending.", "    creating a"}, s.Remarks(30))
	})
	r.Close()
	require.Equal(t, "T\nTo leave at once, press ^C again: what\n    is running would stay pending.\n    creating a\n", out.String())
}
