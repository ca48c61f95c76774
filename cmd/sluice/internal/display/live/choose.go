package live

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// ErrInterrupted says that the user has pressed Ctrl-C at a question.
var ErrInterrupted = errors.New("interrupted")

// Choose asks which of the answers the user wants, with arrow keys or the beginning of its text, and returns its index. at is the
// answer that is chosen if the user only presses Enter. When ctx is done, the question is taken back.
func Choose(ctx context.Context, o Options, question string, answers []string, at int) (int, error) {
	q := &choice{question: question, answers: answers, at: at, usual: at}
	if err := runUntil(ctx, q, o); err != nil {
		return 0, err
	}
	if q.end != chosen {
		return 0, ErrInterrupted
	}
	return q.at, nil
}

// ending is how a question has ended.
type ending int

const (
	unanswered ending = iota
	chosen
	interrupted
)

// choice is a question with answers below each other.
type choice struct {
	question  string
	answers   []string
	at, usual int
	typed     string // the beginning of an answer
	end       ending
	width     int
}

// Init implements [tea.Model].
func (*choice) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (c *choice) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.width = msg.Width
	case tea.KeyPressMsg:
		return c, c.press(msg)
	}
	return c, nil
}

func (c *choice) press(key tea.KeyPressMsg) tea.Cmd {
	typed := ""
	switch key.String() {
	case "ctrl+c":
		c.end = interrupted
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "enter", "ctrl+j": // some terminals send a line feed
		c.end = chosen
		return tea.Quit
	case "up":
		c.at = (c.at + len(c.answers) - 1) % len(c.answers)
	case "down", "tab":
		c.at = (c.at + 1) % len(c.answers)
	case "backspace", "esc":
		c.at = c.usual
	default:
		typed = c.typed + strings.ToLower(key.Text)
		c.at = c.find(typed)
	}
	c.typed = typed
	return nil
}

// find returns the answer that begins with a text, else the usual one.
func (c *choice) find(text string) int {
	for i, a := range c.answers {
		if text != "" && strings.HasPrefix(a, text) {
			return i
		}
	}
	return c.usual
}

// View implements [tea.Model].
func (c *choice) View() tea.View {
	if c.end == chosen {
		return tea.NewView(bold.Render(c.question) + " " + c.answers[c.at] + "\n")
	}
	lines := []string{bold.Render(c.question) + faint.Render("  ↑↓ or type, then enter")}
	for i, a := range c.answers {
		if i == c.at {
			lines = append(lines, "> "+bold.Render(a))
			continue
		}
		lines = append(lines, "  "+a)
	}
	for i, text := range lines {
		lines[i] = fit(text, max(c.width-1, 1))
	}
	return tea.NewView(strings.Join(lines, "\n") + "\n")
}
