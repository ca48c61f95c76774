package terminal

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Choose lets the user choose one of the answers, and returns its index. If the terminal can be drawn on, the user chooses with arrow keys or by
// typing the beginning of an answer, else by number or text. usual is the answer for an empty input. When ctx is done, a drawn question is
// removed.
func Choose(ctx context.Context, t *Terminal, question string, answers []string, usual int) (int, error) {
	if !t.Drawable() {
		return chooseByLine(ctx, t, question, answers, usual)
	}
	q := &choice{question: question, answers: answers, at: usual, usual: usual}
	if err := t.Draw(ctx, q); err != nil {
		return 0, err
	}
	if q.frame.end != chosen {
		return 0, ErrInterrupted
	}
	return q.at, nil
}

func chooseByLine(ctx context.Context, t *Terminal, question string, answers []string, usual int) (int, error) {
	for i, a := range answers {
		fmt.Fprintf(t.Out, "%3d  %s\n", i+1, a)
	}
	for {
		answer, err := t.Ask(ctx, fmt.Sprintf("%s [number or text] (%s): ", question, answers[usual]))
		if err != nil || answer == "" {
			return usual, err
		}
		if i := slices.Index(answers, ByNumber(answer, answers)); i >= 0 {
			return i, nil
		}
		fmt.Fprintf(t.Err, "%q is not one of the answers\n", answer)
	}
}

// ByNumber returns the name with the given number in a list, counted from 1. Any other answer is returned unchanged.
func ByNumber(answer string, names []string) string {
	if i, err := strconv.Atoi(answer); err == nil && i >= 1 && i <= len(names) {
		return names[i-1]
	}
	return answer
}

// ending is the way in which a question has ended.
type ending int

const (
	unanswered ending = iota
	chosen
	interrupted
)

// frame is what all drawn questions have in common.
type frame struct {
	end    ending
	width  int
	height int // 0 until it is known
}

// update handles the messages that mean the same for all questions, and reports whether msg was one of them.
func (f *frame) update(msg tea.Msg) (cmd tea.Cmd, common bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		f.width, f.height = msg.Width, msg.Height
		return nil, true
	case GoneMsg:
		f.end = interrupted
		return tea.Quit, true
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c", "ctrl+d": // the end of the input answers nothing
			f.end = interrupted
			return tea.Quit, true
		case "ctrl+z":
			return tea.Suspend, true
		case "enter", "ctrl+j": // some terminals send a line feed
			f.end = chosen
			return tea.Quit, true
		}
	}
	return nil, false
}

// around returns the range of room lines of n that has the one at a place in its middle, if possible.
func around(at, n, room int) (first, last int) {
	first = min(max(at-room/2, 0), n-room)
	return first, first + room
}

// choice is a question with one answer on each line.
type choice struct {
	question  string
	answers   []string
	at, usual int
	typed     string // the beginning of an answer
	frame     frame
}

// Init implements [tea.Model].
func (*choice) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (c *choice) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, common := c.frame.update(msg)
	if key, is := msg.(tea.KeyPressMsg); is && !common {
		c.press(key)
	}
	return c, cmd
}

func (c *choice) press(key tea.KeyPressMsg) {
	typed := ""
	switch key.String() {
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
	if c.frame.end == chosen {
		return tea.NewView(bold.Render(printable.Line(c.question)) + " " + printable.Line(c.answers[c.at]) + "\n")
	}
	lines := c.lines(steady)
	if c.cuts(steady) {
		lines = c.lines(c.frame.width - 1) // to read the answers is more important
	}
	return tea.NewView(strings.Join(lines, "\n") + "\n")
}

// steady is the width in cells of a drawn question. When a window becomes narrower, many terminals fold the wider lines that are drawn already, and
// nobody can find out where they are then, to remove them.
const steady = 59

const hint = "  ↑↓ or type, then enter"

// cuts reports whether answers would be equal if they were cut to a width.
func (c *choice) cuts(width int) bool {
	lines := make([]string, len(c.answers))
	for i, a := range c.answers {
		lines[i] = "  " + a
	}
	return cuts(lines, width)
}

// cuts reports whether lines would be equal if they were cut to a width.
func cuts(lines []string, width int) bool {
	seen := map[string]bool{}
	for _, line := range lines {
		text := ansi.Truncate(printable.Line(line), width, "…")
		if seen[text] {
			return true
		}
		seen[text] = true
	}
	return false
}

// lines draws the question in lines of at most width cells.
func (c *choice) lines(width int) []string {
	question := printable.Line(c.question)
	lines := []string{bold.Render(question) + faint.Render(hint)}
	first, last := c.window()
	if ansi.StringWidth(question+hint) > width {
		lines[0] = bold.Render(question)
	}
	for i := first; i < last; i++ {
		if i == c.at {
			lines = append(lines, "> "+bold.Render(printable.Line(c.answers[i])))
			continue
		}
		lines = append(lines, "  "+printable.Line(c.answers[i]))
	}
	if hidden := len(c.answers) - (last - first); hidden > 0 {
		lines = append(lines, faint.Render(fmt.Sprintf("  %d more", hidden)))
	}
	if ansi.StringWidth(question+hint) > width && (c.frame.height == 0 || len(lines) < c.frame.height-1) {
		lines = append(lines, faint.Render(hint))
	}
	for i, text := range lines {
		lines[i] = ansi.Truncate(text, max(min(width, c.frame.width-1), 1), "…")
	}
	return lines
}

var (
	bold  = lipgloss.NewStyle().Bold(true)
	faint = lipgloss.NewStyle().Faint(true)
)

// window returns the range of answers that fit on the screen, including the marked one.
func (c *choice) window() (first, last int) {
	room := len(c.answers)
	if c.frame.height > 0 && room > c.frame.height-2 {
		room = max(c.frame.height-3, 1)
	}
	return around(c.at, len(c.answers), room)
}
