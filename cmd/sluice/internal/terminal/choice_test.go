package terminal

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/picture"
)

func press(c *choice, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k, Code: []rune(k)[0]}
		switch k {
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		c.Update(msg)
	}
}

func TestAnswersAreChosenByKeysAndByTheirBeginnings(t *testing.T) {
	for about, c := range map[string]struct {
		keys []string
		want int
		end  ending
	}{
		"enter is no":                 {[]string{"enter"}, 1, chosen},
		"as it was typed before":      {[]string{"y", "e", "s", "enter"}, 0, chosen},
		"arrows":                      {[]string{"down", "enter"}, 2, chosen},
		"around the end":              {[]string{"down", "down", "down", "enter"}, 0, chosen},
		"what is no answer counts no": {[]string{"y", "x", "enter"}, 1, chosen},
		"not answered yet":            {[]string{"y"}, 0, unanswered},
	} {
		t.Run(about, func(t *testing.T) {
			q := &choice{question: "Go?", answers: []string{"yes", "no", "details", "save the plan"}, at: 1, usual: 1}
			press(q, c.keys...)
			require.Equal(t, c.want, q.at)
			require.Equal(t, c.end, q.frame.end)
		})
	}
}

func TestTheMarkedAnswerIsInSight(t *testing.T) {
	var answers []string
	for i := range 100 {
		answers = append(answers, fmt.Sprintf("stack%02d", i))
	}
	for at := range answers {
		for height := 4; height < 110; height += 7 {
			c := &choice{question: "Which?", answers: answers, at: at}
			c.Update(tea.WindowSizeMsg{Width: 40, Height: height})
			shown := ansi.Strip(c.View().Content)
			require.Contains(t, shown, "> "+answers[at]+"\n")
			require.LessOrEqual(t, strings.Count(shown, "\n"), height)
		}
	}
}

func TestWithoutAScreenAnAnswerIsChosenByNumberOrText(t *testing.T) {
	for typed, want := range map[string]int{"\n": 1, "1\n": 0, "details\n": 2, "7\nno such\n3\n": 2} {
		var out bytes.Buffer
		term := New(Streams{In: strings.NewReader(typed), Out: &out, Err: &out})
		at, err := Choose(t.Context(), term, "Go?", []string{"yes", "no", "details"}, 1)
		require.NoError(t, err)
		require.Equal(t, want, at)
		require.Contains(t, out.String(), "  3  details\nGo? [number or text] (no): ")
	}
}

var update = flag.Bool("update", false, "write the pictures")

func TestThePictureOfAQuestion(t *testing.T) {
	c := &choice{question: "Do you want to perform this update?", answers: []string{"yes", "no", "details", "browse the changes", "save the plan"}, at: 1, usual: 1}
	c.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	press(c, "down", "down")
	picture.Check(t, "../../../..", "question", 60, 7, c.View().Content, *update)
}

// A terminal that becomes narrower, down to 60 columns, folds no line of a question, and so nothing of it is left when it is drawn again.
func TestAQuestionFitsAWindowThatBecomesNarrower(t *testing.T) {
	long := strings.Repeat("long ", 20)
	for name, c := range map[string]*choice{
		"update":             {question: "Do you want to perform this update?", answers: []string{"yes", "no"}},
		"without a preview":  {question: "Do you want to perform this destroy without a preview?", answers: []string{"yes", "no"}},
		"long answers":       {question: "Which?", answers: []string{"a" + long, "b" + long}},
		"more than one page": {question: "Which of all these many stacks is the one to use now?", answers: strings.Fields(strings.Repeat("a ", 40))},
	} {
		for _, width := range []int{60, 80, 120} {
			c.Update(tea.WindowSizeMsg{Width: width, Height: 24})
			shown := ansi.Strip(c.View().Content)
			require.LessOrEqual(t, strings.Count(shown, "\n"), 23, name)
			if name != "more than one page" {
				for _, line := range strings.Split(shown, "\n") {
					require.Less(t, ansi.StringWidth(line), 60, "%s, %d columns", name, width)
				}
				require.Contains(t, shown, "↑↓ or type, then enter")
			}
		}
	}
	c := &choice{question: "Which?", answers: []string{long + "a", long + "b"}}
	c.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
	require.Contains(t, ansi.Strip(c.View().Content), long+"b", "answers that begin alike are whole")
}
