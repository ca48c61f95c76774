package terminal

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Several is a question with any number of answers.
type Several struct {
	Question string
	Items    []Item
	// Along returns which items go along with the marked ones, whose indices it gets; it may be nil.
	Along func(marked []int) []int
}

// Item is one of several possible answers.
type Item struct {
	Name   string // which a user can type
	Text   string // the line that is shown
	Hidden string // further text in which what is typed is searched for
}

// has reports whether a text, in lower case, is a part of the item.
func (i Item) has(text string) bool {
	return strings.Contains(strings.ToLower(i.Text+"\n"+i.Hidden), text)
}

// ChooseSeveral lets the user choose any number of items, and returns their indices in ascending order: none if the user goes back. If the
// terminal can be drawn on, items are found by typing and marked with the space bar. Else the user types numbers or names.
func ChooseSeveral(ctx context.Context, t *Terminal, s Several) ([]int, error) {
	if !t.Drawable() {
		return severalByLine(ctx, t, s)
	}
	q := &several{of: s, marked: map[int]bool{}}
	q.filter("")
	if err := t.Draw(ctx, q); err != nil {
		return nil, err
	}
	if q.frame.end != chosen {
		return nil, ErrInterrupted
	}
	return q.chosen(), nil
}

// mostLines is the maximal number of items that are listed in lines of text.
const mostLines = 40

func severalByLine(ctx context.Context, t *Terminal, s Several) ([]int, error) {
	for i, item := range s.Items[:min(mostLines, len(s.Items))] {
		fmt.Fprintf(t.Out, "%3d  %s\n", i+1, item.Text)
	}
	if more := len(s.Items) - mostLines; more > 0 {
		fmt.Fprintf(t.Out, "     and %d more\n", more)
	}
	for {
		answer, err := t.Ask(ctx, s.Question+" [numbers, or names or parts of them, with commas between; nothing goes back]: ")
		if err != nil {
			return nil, err
		}
		found, unknown := s.named(answer)
		if unknown == "" {
			return found, nil
		}
		fmt.Fprintf(t.Err, "%q is neither a number in the list nor a part of a name in it\n", unknown)
	}
}

// named returns the items that an answer names: by number, by name, or by a part. unknown is a part of the answer that names none.
func (s *Several) named(answer string) (found []int, unknown string) {
	for part := range strings.SplitSeq(answer, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if n, err := strconv.Atoi(part); err == nil && n >= 1 && n <= len(s.Items) {
			found = append(found, n-1)
			continue
		}
		is := func(i Item) bool { return i.Name == part }
		if !slices.ContainsFunc(s.Items, is) {
			is = func(i Item) bool { return i.has(strings.ToLower(part)) }
		}
		before := len(found)
		for i, item := range s.Items {
			if is(item) {
				found = append(found, i)
			}
		}
		if len(found) == before {
			return nil, part
		}
	}
	slices.Sort(found)
	return slices.Compact(found), ""
}

// several draws a question with several answers.
type several struct {
	of     Several
	typed  string // what the shown items have in their texts
	shown  []int  // the indices of the items that the user can move to
	at     int    // the current one, an index of shown
	marked map[int]bool
	along  map[int]bool // what goes along with the marked ones
	frame  frame
}

// Init implements [tea.Model].
func (*several) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (s *several) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, common := s.frame.update(msg)
	if key, is := msg.(tea.KeyPressMsg); is && !common {
		cmd = s.press(key)
	}
	return s, cmd
}

func (s *several) press(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc":
		if s.typed != "" {
			s.filter("")
			return nil
		}
		s.marked, s.frame.end = nil, chosen
		return tea.Quit
	case "up":
		s.move(-1)
	case "down", "tab":
		s.move(1)
	case "pgup":
		s.at = max(s.at-10, 0)
	case "pgdown":
		s.at = max(min(s.at+10, len(s.shown)-1), 0)
	case "home":
		s.at = 0
	case "end":
		s.at = max(len(s.shown)-1, 0)
	case "space":
		if len(s.shown) > 0 {
			s.mark(!s.marked[s.shown[s.at]], s.shown[s.at])
		}
	case "ctrl+a":
		s.mark(slices.ContainsFunc(s.shown, func(i int) bool { return !s.marked[i] }), s.shown...)
	case "backspace":
		if runes := []rune(s.typed); len(runes) > 0 {
			s.filter(string(runes[:len(runes)-1]))
		}
	default:
		if key.Text != "" {
			s.filter(s.typed + strings.ToLower(key.Text))
		}
	}
	return nil
}

// move moves the cursor, and around the ends.
func (s *several) move(by int) {
	if n := len(s.shown); n > 0 {
		s.at = (s.at + n + by) % n
	}
}

// filter shows the items that have a text.
func (s *several) filter(text string) {
	current := -1
	if s.at < len(s.shown) {
		current = s.shown[s.at]
	}
	s.typed, s.shown = text, nil
	for i, item := range s.of.Items {
		if item.has(text) {
			s.shown = append(s.shown, i)
		}
	}
	s.at = max(slices.Index(s.shown, current), 0)
}

// mark marks items, or removes their marks.
func (s *several) mark(on bool, items ...int) {
	for _, i := range items {
		if s.marked[i] = on; !on {
			delete(s.marked, i)
		}
	}
	s.along = map[int]bool{}
	if s.of.Along == nil || len(s.marked) == 0 {
		return
	}
	for _, i := range s.of.Along(s.chosen()) {
		s.along[i] = !s.marked[i]
	}
}

// chosen returns the marked items.
func (s *several) chosen() (list []int) {
	for i := range s.of.Items {
		if s.marked[i] {
			list = append(list, i)
		}
	}
	return list
}

// state says how many items are chosen.
func (s *several) state() string {
	n := 0
	for _, along := range s.along {
		if along {
			n++
		}
	}
	text := fmt.Sprintf("%d chosen", len(s.marked))
	switch n {
	case 0:
	case 1:
		text += ", 1 goes along"
	default:
		text += fmt.Sprintf(", %d go along", n)
	}
	if s.typed != "" {
		text += " · " + s.typed + "▏"
	}
	return text
}

// View implements [tea.Model].
func (s *several) View() tea.View {
	if s.frame.end == chosen {
		what := "nothing"
		if len(s.marked) > 0 {
			what = s.state()
		}
		return tea.NewView(bold.Render(printable.Line(s.of.Question)) + " " + what + "\n")
	}
	width := steady
	if s.cuts(steady) {
		width = s.frame.width // to read the items is more important
	}
	lines := []string{bold.Render(printable.Line(s.of.Question))}
	first, last := s.window()
	for i := first; i < last; i++ {
		lines = append(lines, s.line(i))
	}
	if len(s.shown) == 0 {
		lines = append(lines, "  "+faint.Render("nothing has this text"))
	}
	if hidden := len(s.shown) - (last - first); hidden > 0 {
		lines = append(lines, faint.Render(fmt.Sprintf("  %d more", hidden)))
	}
	lines = append(lines, "  "+printable.Line(s.state()))
	for _, text := range s.hints() {
		lines = append(lines, faint.Render(text))
	}
	for i, text := range lines {
		lines[i] = ansi.Truncate(text, max(min(width, s.frame.width-1), 1), "…")
	}
	return tea.NewView(strings.Join(lines, "\n") + "\n")
}

// cuts reports whether items would be equal if they were cut to a width.
func (s *several) cuts(width int) bool {
	lines := make([]string, len(s.of.Items))
	for i, item := range s.of.Items {
		lines[i] = "  [ ] " + item.Text
	}
	return cuts(lines, width)
}

// line draws the item at a place among the shown ones.
func (s *several) line(at int) string {
	item := s.shown[at]
	box := "[ ] "
	switch {
	case s.marked[item]:
		box = "[x] "
	case s.along[item]:
		box = "[·] "
	}
	text := printable.Line(s.of.Items[item].Text)
	if at == s.at {
		return "> " + box + bold.Render(text)
	}
	return "  " + box + text
}

// hints returns the explanation of the keys. On a low screen there is none.
func (s *several) hints() []string {
	if s.frame.height > 0 && s.frame.height < 8 {
		return nil
	}
	return []string{"  ↑↓, space marks, ctrl+a all, type to find", "  enter goes on, esc goes back"}
}

// window returns the range of the shown items that fit on the screen, including the current one.
func (s *several) window() (first, last int) {
	room := len(s.shown)
	if others := 3 + len(s.hints()); s.frame.height > 0 && room > s.frame.height-others {
		room = max(s.frame.height-others-1, 1)
	}
	room = min(room, len(s.shown))
	return around(s.at, len(s.shown), room)
}
