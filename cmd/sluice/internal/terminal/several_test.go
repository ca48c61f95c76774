package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

func question(n int) Several {
	q := Several{Question: "Which ones?", Along: func(marked []int) (list []int) {
		for _, i := range marked {
			list = append(list, i, (i+1)%n)
		}
		return list
	}}
	for i := range n {
		q.Items = append(q.Items, Item{Name: fmt.Sprintf("r%02d", i), Text: fmt.Sprintf("+ r%02d  a:b:Thing", i), Hidden: "urn:of:" + strings.Repeat("x", i)})
	}
	return q
}

func drawn(q Several) *several {
	s := &several{of: q, marked: map[int]bool{}}
	s.filter("")
	return s
}

func typeKeys(s *several, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k, Code: []rune(k)[0]}
		switch k {
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "backspace":
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		case "ctrl+a":
			msg = tea.KeyPressMsg{Code: 'a', Mod: tea.ModCtrl}
		}
		s.Update(msg)
	}
}

func TestSeveralItemsAreMarkedAndFoundByTyping(t *testing.T) {
	for about, c := range map[string]struct {
		keys []string
		want []int
		end  ending
	}{
		"nothing":                    {[]string{"enter"}, nil, chosen},
		"the first":                  {[]string{" ", "enter"}, []int{0}, chosen},
		"not any more":               {[]string{" ", " ", "enter"}, nil, chosen},
		"by moving":                  {[]string{"down", " ", "up", "up", " ", "enter"}, []int{1, 9}, chosen},
		"by typing":                  {[]string{"r", "0", "7", " ", "esc", "end", " ", "enter"}, []int{7, 9}, chosen},
		"by a hidden text":           {[]string{"x", "x", "x", "x", "x", "x", "x", "x", "x", " ", "enter"}, []int{9}, chosen},
		"all with a text":            {[]string{"r", "0", "8", "backspace", "ctrl+a", "enter"}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, chosen},
		"none again":                 {[]string{"ctrl+a", "ctrl+a", "enter"}, nil, chosen},
		"escape goes back":           {[]string{" ", "esc"}, nil, chosen},
		"a text that nothing has":    {[]string{"q", " ", "down", "ctrl+a", "enter"}, nil, chosen},
		"escape first ends a search": {[]string{" ", "q", "esc"}, []int{0}, unanswered},
	} {
		t.Run(about, func(t *testing.T) {
			s := drawn(question(10))
			typeKeys(s, c.keys...)
			require.Equal(t, c.want, s.chosen())
			require.Equal(t, c.end, s.frame.end)
		})
	}
}

func TestSeveralItemsFitEveryWindow(t *testing.T) {
	for _, n := range []int{2, 9, 100} {
		for _, width := range []int{20, 32, 80} {
			for height := 5; height < 40; height += 3 {
				s := drawn(question(n))
				s.Update(tea.WindowSizeMsg{Width: width, Height: height})
				typeKeys(s, "end", " ")
				shown := ansi.Strip(s.View().Content)
				require.LessOrEqual(t, strings.Count(shown, "\n"), height, shown)
				require.Contains(t, shown, fmt.Sprintf("> [x] + r%02d", n-1))
				require.Contains(t, shown, "1 chosen, 1 goes")
				for line := range strings.Lines(shown) {
					require.Less(t, ansi.StringWidth(strings.TrimSuffix(line, "\n")), width)
				}
			}
		}
	}
	s := drawn(question(3))
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	typeKeys(s, " ")
	require.Contains(t, ansi.Strip(s.View().Content), "[·] + r01")
}

func TestSeveralItemsAreNamedInALine(t *testing.T) {
	for typed, want := range map[string][]int{
		"\n": nil, "2, r04\n": {1, 4}, "r0\n": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "99\nnobody\nr03,r03,\n": {3}, "R05\n": {5},
	} {
		var out bytes.Buffer
		term := New(Streams{In: strings.NewReader(typed), Out: &out, Err: &out})
		found, err := ChooseSeveral(t.Context(), term, question(10))
		require.NoError(t, err)
		require.Equal(t, want, found, typed)
		require.Contains(t, out.String(), "  3  + r02  a:b:Thing\n")
	}
	var out bytes.Buffer
	term := New(Streams{In: strings.NewReader("r5\n"), Out: &out, Err: &out})
	found, err := ChooseSeveral(t.Context(), term, question(60))
	require.NoError(t, err)
	require.Len(t, found, 10)
	require.Contains(t, out.String(), "and 20 more")
}
