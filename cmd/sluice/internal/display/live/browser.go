package live

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/urn"
)

// browser is the visible part of the tree: the selection, the folds and the filter.
type browser struct {
	selected urn.URN // "" if none
	first    int     // the first line that is shown
	folds    map[urn.URN]bool
	filter   textinput.Model
	lines    []line // as last drawn
}

// list lists the lines to draw in so much room: what runs, or all changes of an operation that is over.
func (b *browser) list(s display.Sight, over bool, room int) {
	if over {
		b.lines = planned(s, b.folds, b.filter.Value())
	} else {
		b.lines = linesOf(s, b.folds, b.filter.Value(), room)
	}
	b.scroll(room)
}

// move moves the selection by a number of lines.
func (b *browser) move(by int) {
	at := slices.IndexFunc(b.lines, func(l line) bool { return l.node != nil && l.node.URN == b.selected })
	if at < 0 {
		at, by = b.first, min(by, 0)
	}
	b.selectAt(min(max(at+by, 0), len(b.lines)-1), sign(by))
}

// selectAt selects the resource of a line, or of the next one in the direction of step if the line stands for
// several.
func (b *browser) selectAt(at, step int) {
	for ; at >= 0 && at < len(b.lines); at += step {
		if n := b.lines[at].node; n != nil {
			b.selected = n.URN
			return
		}
	}
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// choose selects the first visible resource if none is selected, so that keys have something to act on.
func (b *browser) choose() {
	if b.selected == "" {
		b.move(0)
	}
}

// fold hides or shows what is below the selected resource.
func (b *browser) fold(hide bool) {
	b.choose()
	if b.selected != "" {
		b.folds[b.selected] = hide
	}
}

// scroll keeps the selected line and the lines of counts behind it visible, and leaves room for the count of following lines.
func (b *browser) scroll(room int) {
	i := slices.IndexFunc(b.lines, func(l line) bool { return l.node != nil && l.node.URN == b.selected })
	if i >= 0 {
		last := i + 1
		for last < len(b.lines)-1 && b.lines[last].node == nil {
			last++
		}
		b.first = min(max(b.first, min(last, len(b.lines)-1)-room+1), i)
	}
	b.first = max(min(b.first, len(b.lines)-room), 0)
}

// inSight returns the resources among the lines drawn last, in so much room.
func (b *browser) inSight(room int) map[urn.URN]bool {
	out := map[urn.URN]bool{}
	last := min(b.first+room, len(b.lines))
	if last < len(b.lines) {
		last-- // it counts the lines that follow
	}
	for _, l := range b.lines[b.first:max(last, b.first)] {
		if l.node != nil {
			out[l.node.URN] = true
		}
	}
	return out
}

// rows draws the visible lines of the tree in columns. The last one counts the lines that follow, if there are any.
func (b *browser) rows(s display.Sight, width, room, frame int) []string {
	last := min(b.first+room, len(b.lines))
	lines, more := b.lines[b.first:last], len(b.lines)-last
	type cells struct {
		display.Row
		branch string
	}
	var rows []cells
	kinds, names := 0, 0
	for _, l := range lines {
		if l.node == nil {
			rows = append(rows, cells{branch: faint.Render(l.branch + l.others)})
			continue
		}
		row := s.Row(l.node)
		kinds = max(kinds, min(lipgloss.Width(l.branch+row.Kind), width/2))
		names = max(names, min(lipgloss.Width(row.Name), width/3))
		rows = append(rows, cells{row, l.branch})
	}
	kinds, names = display.Narrowed(width, kinds, names)
	out := make([]string, len(rows))
	for i, r := range rows {
		n := lines[i].node
		if n == nil {
			out[i] = "    " + r.branch
			continue
		}
		sign := " "
		switch {
		case r.Runs:
			sign = spinner[frame%len(spinner)]
		case n.Status == tree.Failed:
			sign = failing.Render("✗")
		}
		name := ansi.Truncate(r.Name, names, "…")
		left := faint.Render(r.branch) + display.Shortened(r.Kind, max(kinds-lipgloss.Width(r.branch), 0))
		out[i] = sign + r.Mark + " " + fit(left, kinds) + " " + fit(name, names) + " " + r.Fate
		if n.URN == b.selected {
			out[i] = selectedStyle.Render(fit(ansi.Strip(out[i]), width))
		}
	}
	if more > 0 && len(out) > 1 {
		out[len(out)-1] = faint.Render(fmt.Sprintf("    ↓ %d more lines", more+1))
	}
	return out
}

// fit pads or cuts a text to a width.
func fit(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}
