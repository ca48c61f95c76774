package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/internal/text/align"
	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
)

// Limits on how texts are compared.
const (
	contextLines   = 3       // equal lines around differing ones
	maxCompared    = 1 << 20 // bytes of the differing part; of longer ones only the beginning is compared
	maxAbreast     = 100     // characters of two texts on one line
	contextShown   = 20      // equal characters left on both sides of the difference in a long text
	maxEmphasized  = 4000    // characters up to which words are compared
	maxPairedLines = 100     // neighbouring lines up to which words are compared
)

// onlyFormat describes the difference between two documents with the same value.
func onlyFormat(old, new comparison.Document) string {
	if old.Format == "YAML" || new.Format == "YAML" {
		return "only the formatting or comments differ"
	}
	return "only the formatting differs"
}

// sameDocument reports whether two texts hold documents with the same value, and describes the difference.
func sameDocument(old, new string) (what string, same bool) {
	was, ok := comparison.DocumentIn(old)
	if !ok {
		return "", false
	}
	is, ok := comparison.DocumentIn(new)
	if !ok || !property.Identical(was.Value, is.Value) {
		return "", false
	}
	return "(" + is.Format + ") " + onlyFormat(was, is), true
}

// window is the shown part of a text.
type window struct {
	parts         []align.Part
	escape        func(string) string
	before, after string // note that something is left out
}

func (w window) spans(c colour) []span { return partsOf(c, w.parts, w.escape) }

func (w window) length() int {
	n := len(w.before) + len(w.after)
	for _, x := range w.spans(plain) {
		n += utf8.RuneCountInString(x.text)
	}
	return n
}

// excerpts shortens texts, unless full is set.
type excerpts struct{ full bool }

// abreast returns the shown parts of two different texts: all of them, or the difference with some context. hidden describes the equal
// parts that are left out.
func (e excerpts) abreast(old, new string, escape func(string) string) (was, is window, hidden string) {
	head, tail := 0, 0
	if !e.full && (isLong(old) || isLong(new)) {
		head = hiddenHead(old, new)
		tail = hiddenTail(old[head:], new[head:])
	}
	equal := utf8.RuneCountInString(old[:head]) + utf8.RuneCountInString(old[len(old)-tail:])
	if equal > 0 {
		hidden = fmt.Sprintf(" (%s hidden)", plural(equal, "equal character", "equal characters"))
	}
	show := func(text string) (window, string) {
		w := window{escape: escape}
		if head > 0 {
			w.before = "..."
		}
		if tail > 0 {
			w.after = "..."
		}
		text = text[head : len(text)-tail]
		if shown := beginningOf(text, maxTextShown+2*contextShown); !e.full && len(shown) < len(text) {
			w.after = fmt.Sprintf("... (%s more)", byteSize(len(text)-len(shown)))
			text = shown
		}
		return w, text
	}
	was, old = show(old)
	is, new = show(new)
	was.parts, is.parts = emphasis(old, new)
	return was, is, hidden
}

// emphasis compares the words of two texts that are not too long.
func emphasis(old, new string) (o, n []align.Part) {
	if len(old) > maxEmphasized || len(new) > maxEmphasized {
		return []align.Part{{Text: old}}, []align.Part{{Text: new}}
	}
	return align.Emphasis(old, new)
}

func isLong(text string) bool { return len(beginningOf(text, maxTextShown)) < len(text) }

// beginningOf returns the first characters of a text, in a time that does not depend on its length.
func beginningOf(text string, most int) string {
	runes := 0
	for i := range text {
		if runes == most {
			return text[:i]
		}
		runes++
	}
	return text
}

// hiddenHead returns how many equal bytes to hide at the beginning of two texts.
func hiddenHead(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for range contextShown {
		if n > 0 {
			_, size := utf8.DecodeLastRuneInString(a[:n])
			n -= size
		}
	}
	for n > 0 && !utf8.RuneStart(a[n]) { // the texts may differ inside a character
		n--
	}
	return n
}

// hiddenTail is like hiddenHead, for the end.
func hiddenTail(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for range contextShown {
		if n > 0 {
			_, size := utf8.DecodeRuneInString(a[len(a)-n:])
			n -= size
		}
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// quotedPart escapes a part of a text as between quotes.
func quotedPart(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// shownLine returns a part of a line of a text. It escapes characters that a terminal would execute or not show.
func shownLine(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError || !strconv.IsPrint(r):
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(quotedPart(text[i : i+size]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

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
	p *diffPrinter
	excerpts
	depth int
	room  int // changed lines that still fit
	left  int // changed lines that do not
}

// print prints a hunk, and its header if there is one.
func (h *hunkPrinter) print(hunk []textLine, header bool) {
	if h.room == 0 && !h.full {
		h.left += countChanges(hunk)
		return
	}
	if header {
		h.p.spans(h.depth, same, label{}, span{text: hunkHeader(hunk), colour: grey})
	}
	for i := 0; i < len(hunk); {
		if hunk[i].mark == same {
			if h.room > 0 || h.full {
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
	if all := len(was) + len(is); all > h.room && !h.full {
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
			o, n, hidden := h.abreast(chomp(gone[i].text), chomp(came[i].text), shownLine)
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
	return window{parts: []align.Part{{Text: h.cut(chomp(l.text))}}, escape: shownLine}
}

// cut shortens a line of a text.
func (e excerpts) cut(text string) string {
	if shown := beginningOf(text, 4*maxTextShown); !e.full && len(shown) < len(text) {
		return shown + fmt.Sprintf("... (%s more)", byteSize(len(text)-len(shown)))
	}
	return text
}

// line prints a line. text is the whole line, with its line end if it has one.
func (h *hunkPrinter) line(m mark, w window, text string) {
	spans := append([]span{{text: w.before}}, w.spans(plain)...)
	spans = append(spans, span{text: w.after})
	if m != same {
		markTrailingSpaces(spans)
	}
	h.p.spans(h.depth, m, label{}, spans...)
	if !strings.HasSuffix(text, "\n") && m != same {
		h.p.add(h.depth, same, `\ no newline at the end`)
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

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func chomp(line string) string { return strings.TrimSuffix(line, "\n") }
