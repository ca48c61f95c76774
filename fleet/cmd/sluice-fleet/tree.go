package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/watch"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

// tree draws a run on a terminal: stacks that run, wait for an approval or have failed, and the progress. It overwrites its last drawing.
type tree struct {
	out   io.Writer
	lines int // the number of drawn lines
	note  string
	size  func() (width, height int)
}

func newTree(out io.Writer) *tree {
	return &tree{out: out, size: func() (int, int) {
		if f, is := out.(term.File); is {
			if w, h, err := term.GetSize(f.Fd()); err == nil {
				return w, h
			}
		}
		return 80, 24
	}}
}

var styles = map[run.Status]lipgloss.Style{
	run.Succeeded: lipgloss.NewStyle().Foreground(lipgloss.Green), run.Unchanged: lipgloss.NewStyle().Faint(true),
	run.Failed: lipgloss.NewStyle().Foreground(lipgloss.Red), run.Skipped: lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	run.Refused: lipgloss.NewStyle().Foreground(lipgloss.Red), run.Canceled: lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	run.Running: lipgloss.NewStyle().Foreground(lipgloss.Cyan), run.Approving: lipgloss.NewStyle().Foreground(lipgloss.Magenta),
}

var marks = map[run.Status]string{
	run.Succeeded: "✓", run.Unchanged: "=", run.Failed: "✗", run.Skipped: "↷", run.Refused: "✗", run.Canceled: "■", run.Running: "●", run.Approving: "?",
	run.Waiting: "·",
}

// importance orders stacks if there is not room for all.
var importance = [][]run.Status{{run.Approving, run.Running}, {run.Failed, run.Refused}, {run.Waiting}, {run.Succeeded, run.Skipped, run.Canceled, run.Unchanged}}

// draw draws the present state of the run.
func (t *tree) draw(now watch.State) {
	width, height := t.size()
	t.paint(t.picture(now, width, max(4, height-3)))
}

// finish draws all stacks and leaves them on the screen.
func (t *tree) finish(now watch.State) {
	width, _ := t.size()
	t.note = ""
	t.paint(t.picture(now, width, 2*len(now.Stacks)+2))
}

func (t *tree) paint(lines []string) {
	var b strings.Builder
	if t.lines > 0 {
		b.WriteString(ansi.CursorUp(t.lines))
	}
	b.WriteString("\r" + ansi.EraseScreenBelow)
	clean := printable.NewStyledWriter(&b)
	for _, line := range lines {
		_, _ = io.WriteString(clean, line+"\n") // a Builder returns no error
	}
	t.lines = len(lines)
	_, _ = io.WriteString(t.out, b.String()) // a terminal that has gone does not affect the run
}

// picture returns at most so many lines: stacks below their entries of fleet.yaml. Stacks that need attention come first.
func (t *tree) picture(now watch.State, width, most int) []string {
	chosen := choice(now.Stacks, most-2)
	counts := now.Counts()
	var lines []string
	entry, hidden := "", 0
	for _, s := range now.Stacks {
		if !chosen[s.Name] {
			hidden++
			continue
		}
		if of := entryOf(s.Name); of != entry {
			if entry = of; entry != "" {
				lines = append(lines, ansi.Truncate(entryLine(entry, now.Stacks), width-1, "…"))
			}
		}
		lines = append(lines, ansi.Truncate(stackLine(s, now.Progress[s.Name]), width-1, "…"))
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", hidden))
	}
	over := len(now.Stacks) - counts[run.Waiting] - counts[run.Running] - counts[run.Approving]
	last := fmt.Sprintf("%d of %s, %d running, %d failed, %v", over, numbered(len(now.Stacks), "stack"), counts[run.Running], counts[run.Failed], elapsed(now))
	if t.note != "" {
		last = t.note
	}
	return append(lines, ansi.Truncate(last, width-1, "…"))
}

func elapsed(now watch.State) time.Duration {
	if !now.Ended.IsZero() {
		return now.Ended.Sub(now.Began).Round(time.Second)
	}
	return time.Since(now.Began).Round(time.Second)
}

// choice returns the stacks that fit on so many lines. An entry of several stacks needs one line too.
func choice(stacks []run.StackView, lines int) map[string]bool {
	chosen, entries := map[string]bool{}, map[string]bool{"": true}
	for _, statuses := range importance {
		for _, s := range stacks {
			cost := 1
			if !entries[entryOf(s.Name)] {
				cost = 2
			}
			if slices.Contains(statuses, s.Status) && cost <= lines {
				lines -= cost
				chosen[s.Name], entries[entryOf(s.Name)] = true, true
			}
		}
	}
	return chosen
}

// entryOf returns the entry of fleet.yaml if several stacks share it, "" for a stack with an entry of its own.
func entryOf(stack string) string {
	entry, _, several := strings.Cut(stack, "/")
	if !several {
		return ""
	}
	return entry
}

func entryLine(entry string, stacks []run.StackView) string {
	over, all := 0, 0
	for _, s := range stacks {
		if entryOf(s.Name) != entry {
			continue
		}
		if all++; s.Status != run.Waiting && s.Status != run.Running && s.Status != run.Approving {
			over++
		}
	}
	return fmt.Sprintf("  %s: %d of %d", entry, over, all)
}

func stackLine(s run.StackView, p run.Progress) string {
	name := s.Name
	if entry := entryOf(name); entry != "" {
		name = "  " + strings.TrimPrefix(name, entry+"/")
	}
	line := fmt.Sprintf("%s %s %s", styles[s.Status].Render(marks[s.Status]), name, styles[s.Status].Render(s.Status.Word()))
	text := about(s)
	if s.Status == run.Running && (p.Last != "" || p.Waits != "") {
		text = ": " + progressText(p)
	}
	return line + text
}
