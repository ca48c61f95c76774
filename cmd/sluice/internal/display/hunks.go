package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/align"
)

const (
	contextLines   = 3   // equal lines around differing ones
	maxPairedLines = 100 // neighbouring lines up to which words are compared
)

// textLine is a line of one or both of two texts.
type textLine struct {
	mark     mark
	text     string // with its line end, if it has one
	old, new int    // lines of each text before it
}

// merged merges the lines of two texts between equal ones.
func merged(before, old, new, after string, skipped int) []textLine {
	var out []textLine
	o, n := skipped, skipped
	add := func(m mark, lines ...string) {
		for _, text := range lines {
			out = append(out, textLine{m, text, o, n})
			if m != added {
				o++
			}
			if m != removed {
				n++
			}
		}
	}
	add(same, splitLines(before)...)
	a, b := splitLines(old), splitLines(new)
	i, j := 0, 0
	for _, c := range append(align.Common(a, b), align.Pair{Old: len(a), New: len(b)}) {
		add(removed, a[i:c.Old]...)
		add(added, b[j:c.New]...)
		if c.Old < len(a) {
			add(same, a[c.Old])
		}
		i, j = c.Old+1, c.New+1
	}
	add(same, splitLines(after)...)
	return out
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return slices.Collect(strings.Lines(text))
}

// hunks returns the differing parts of lines, with context.
func hunks(lines []textLine) [][]textLine {
	var out [][]textLine
	start, end := -1, 0 // of the hunk that is being collected
	for i, l := range lines {
		if l.mark == same {
			continue
		}
		if from := max(i-contextLines, 0); start < 0 || from > end {
			if start >= 0 {
				out = append(out, lines[start:end])
			}
			start = from
		}
		end = min(i+1+contextLines, len(lines))
	}
	if start >= 0 {
		out = append(out, lines[start:end])
	}
	return out
}

func countChanges(hunk []textLine) int {
	n := 0
	for _, l := range hunk {
		if l.mark != same {
			n++
		}
	}
	return n
}

// hunkHeader returns the line above a hunk with its place in both texts.
func hunkHeader(hunk []textLine) string {
	old, new := 0, 0
	for _, l := range hunk {
		if l.mark != added {
			old++
		}
		if l.mark != removed {
			new++
		}
	}
	place := func(before, n int) string {
		if n > 0 {
			before++ // lines count from 1; an empty range has the number of the line before it
		}
		return fmt.Sprintf("%d,%d", before, n)
	}
	return "@@ -" + place(hunk[0].old, old) + " +" + place(hunk[0].new, new) + " @@"
}

// hunkPrinter prints the hunks of a unified diff while there is room.
type hunkPrinter struct {
	out      *lineWriter
	excerpts excerpts
	depth    int
	room     int // changed lines that still fit
	left     int // changed lines that do not
}

// print prints a hunk, and its header if there is one.
func (h *hunkPrinter) print(hunk []textLine, header bool) {
	if h.room == 0 && !h.excerpts.full {
		h.left += countChanges(hunk)
		return
	}
	if header {
		h.out.spans(h.depth, same, label{}, span{text: hunkHeader(hunk), colour: grey})
	}
	for i := 0; i < len(hunk); {
		if hunk[i].mark == same {
			if h.room > 0 || h.excerpts.full {
				h.line(same, h.whole(hunk[i]), hunk[i].text)
			}
			i++
			continue
		}
		gone := run(hunk[i:], removed)
		came := run(hunk[i+len(gone):], added)
		i += len(gone) + len(came)
		h.change(gone, came)
	}
}

// change prints replaced lines and their replacements. It divides the room between both if there is not enough for all.
func (h *hunkPrinter) change(gone, came []textLine) {
	was, is := h.windows(gone, came)
	if all := len(was) + len(is); all > h.room && !h.excerpts.full {
		was, is = was[:min(len(was), max(h.room/2, h.room-len(is)))], is[:min(len(is), max(h.room-h.room/2, h.room-len(was)))]
		h.left += all - len(was) - len(is)
	}
	for k, w := range was {
		h.line(removed, w, gone[k].text)
	}
	for k, w := range is {
		h.line(added, w, came[k].text)
	}
	h.room -= len(was) + len(is)
}

// run returns the leading lines with a mark.
func run(lines []textLine, m mark) []textLine {
	n := 0
	for n < len(lines) && lines[n].mark == m {
		n++
	}
	return lines[:n]
}

// windows returns the shown parts of replaced lines and their replacements. If there are equally many, it compares them in pairs.
func (h *hunkPrinter) windows(gone, came []textLine) (was, is []window) {
	if len(gone) == len(came) && len(gone) <= maxPairedLines {
		for i := range gone {
			o, n, hidden := h.excerpts.abreast(chomp(gone[i].text), chomp(came[i].text), shownLine)
			n.after += hidden
			was, is = append(was, o), append(is, n)
		}
		return was, is
	}
	for _, l := range gone {
		was = append(was, h.whole(l))
	}
	for _, l := range came {
		is = append(is, h.whole(l))
	}
	return was, is
}

// whole returns a line without emphasis.
func (h *hunkPrinter) whole(l textLine) window {
	return window{parts: []align.Part{{Text: h.excerpts.cut(chomp(l.text))}}, escape: shownLine}
}

// line prints a line. text is the whole line, with its line end if it has one.
func (h *hunkPrinter) line(m mark, w window, text string) {
	spans := append([]span{{text: w.before}}, w.spans(plain)...)
	spans = append(spans, span{text: w.after})
	if m != same {
		markTrailingSpaces(spans)
	}
	h.out.spans(h.depth, m, label{}, spans...)
	if !strings.HasSuffix(text, "\n") && m != same {
		h.out.add(h.depth, same, `\ no newline at the end`)
	}
}

// markTrailingSpaces makes spaces at the end of a changed line visible: they may be the only difference.
func markTrailingSpaces(spans []span) {
	for i := len(spans) - 1; i >= 0; i-- {
		text := strings.TrimRight(spans[i].text, " ")
		spans[i].text = text + strings.Repeat("·", len(spans[i].text)-len(text))
		if text != "" {
			return
		}
	}
}

func chomp(line string) string { return strings.TrimSuffix(line, "\n") }
