package direct

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

func out(text string, cut, rest bool) plugin.Line {
	return plugin.Line{Piece: plugin.Piece{Text: text, Cut: cut, Rest: rest}}
}

// shown makes a backlog show its lines, and returns the list that receives them.
func shown(b *Backlog) *[]string {
	var got []string
	b.ShowTo(func(l plugin.Line) { got = append(got, fmt.Sprintf("%t%t %.60s", l.Rest, l.Cut, l.Text)) })
	return &got
}

func TestABacklogShowsWhatItHasKeptAndThenWhatComes(t *testing.T) {
	var b Backlog
	b.Line(out("a", true, false))
	b.Line(out("b", false, true))
	got := shown(&b)
	b.Line(out("c", false, false))
	require.Equal(t, []string{"falsetrue a", "truefalse b", "falsefalse c"}, *got)
	b.Hold()
	b.Line(out("d", false, false))
	require.Len(t, *got, 3)
	require.Equal(t, []string{"falsefalse d"}, *shown(&b))
}

func TestOfManyLinesABacklogKeepsTheFirst(t *testing.T) {
	var b Backlog
	for i := range 2 * maxLines {
		b.Line(out(fmt.Sprint(i), false, false))
	}
	require.Len(t, b.held, maxLines)
	got := *shown(&b)
	require.Equal(t, []string{"falsefalse 999", "falsefalse ... (1000 more lines are not shown)"}, got[len(got)-2:])
}

// Half a line could end within a secret, or begin within one.
func TestABacklogKeepsWholeLines(t *testing.T) {
	var b Backlog
	long := strings.Repeat("x", maxBytes/4)
	errs := out("error", true, false)
	errs.Stderr = true
	b.Line(out("first", false, false))
	b.Line(errs)
	b.Line(out(long, true, false))
	for range 10 {
		b.Line(out(long, true, true))
		require.LessOrEqual(t, b.size, maxBytes)
	}
	got := shown(&b)
	b.Line(out("the end", false, true))
	b.Line(out("next", false, false))
	require.Equal(t, []string{"falsefalse first", "falsetrue error", "falsefalse ... (1 more line is not shown)", "falsefalse next"}, *got)
}
