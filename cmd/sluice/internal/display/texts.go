package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/internal/align"
	"github.com/sluice-iac/sluice/internal/comparison"
	"github.com/sluice-iac/sluice/property"
)

// Limits on how texts are compared.
const (
	contextLines   = 3       // equal lines around differing ones
	maxCompared    = 1 << 20 // bytes of the part that differs, of which else only the beginning is compared
	maxAbreast     = 100     // characters of two texts that are written on one line
	contextShown   = 20      // equal characters that are left on both sides of what differs in a long text
	maxEmphasized  = 4000    // characters in which words are compared
	maxPairedLines = 100     // neighbouring lines in which words are compared
)

// compareTexts prints two texts: by value if both hold documents, line by line if they have several lines, else on one line or two.
func (p *diffPrinter) compareTexts(depth int, l label, at property.Path, old, new string) {
	if p.compareDocuments(depth, l, at, old, new) {
		return
	}
	if strings.Count(old, "\n") > 1 || strings.Count(new, "\n") > 1 {
		p.compareLines(depth, l, old, new)
		return
	}
	was, is, hidden := excerpts{p.full}.abreast(old, new, quotedPart)
	quote := func(c colour, w window) []span {
		spans := append([]span{{text: w.before + `"`, colour: c}}, w.spans(c)...)
		return append(spans, span{text: `"` + w.after, colour: c})
	}
	if was.length()+is.length() <= maxAbreast {
		spans := append(quote(red, was), span{text: arrow, colour: grey})
		p.spans(depth, changed, l, append(append(spans, quote(green, is)...), span{text: hidden})...)
		return
	}
	p.line(depth, changed, l, strings.TrimSpace(hidden))
	p.spans(depth+1, removed, label{}, quote(red, was)...)
	p.spans(depth+1, added, label{}, quote(green, is)...)
}

// compareDocuments prints two texts by value if both hold documents, and reports whether it has done so.
func (p *diffPrinter) compareDocuments(depth int, l label, at property.Path, old, new string) bool {
	was, ok := comparison.DocumentIn(old)
	if !ok {
		return false
	}
	is, ok := comparison.DocumentIn(new)
	if !ok || was.Value.IsMap() != is.Value.IsMap() {
		return false
	}
	l.what = "(" + is.Format + ")"
	if was.Format != is.Format {
		l.what = "(" + was.Format + arrow + is.Format + ")"
	}
	if property.Identical(was.Value, is.Value) {
		p.line(depth, changed, l, onlyFormat(was, is))
		return true
	}
	p.exactly(func() { p.compareShown(depth, l, at, was.Value, is.Value) })
	return true
}

// onlyFormat says what differs between two documents with the same value.
func onlyFormat(old, new comparison.Document) string {
	if old.Format == "YAML" || new.Format == "YAML" {
		return "only the formatting or comments differ"
	}
	return "only the formatting differs"
}

// sameDocument reports whether two texts hold documents with the same value, and says what differs then.
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

// window is the part of a text that is shown.
type window struct {
	parts         []align.Part
	escape        func(string) string
	before, after string // say that something is left out
}

func (w window) spans(c colour) []span { return partsOf(c, w.parts, w.escape) }

func (w window) length() int {
	n := len(w.before) + len(w.after)
	for _, x := range w.spans(plain) {
		n += utf8.RuneCountInString(x.text)
	}
	return n
}

// excerpts shortens texts, unless everything is to be shown.
type excerpts struct{ full bool }

// abreast returns what is shown of two texts that differ: all of them, or what differs with something around it. hidden says how much of
// what is equal is left out.
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

// beginningOf returns the first characters of a text, and takes no longer than that needs.
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

// hiddenHead returns how many bytes at the beginning of two texts are equal and not worth showing.
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

// quotedPart returns a part of a text as it is between quotes.
func quotedPart(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// shownLine returns a part of a line of a text. It shows what a terminal would obey or not show at all.
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

// textLine is a line of two texts of which it is in one or both.
type textLine struct {
	mark     mark
	text     string // with its line end, if it has one
	old, new int    // how many lines of each text are before it
}

// compareLines prints the parts in which two texts differ as a unified diff. It skips equal lines at both ends without splitting them.
func (p *diffPrinter) compareLines(depth int, l label, old, new string) {
	head := commonHead(old, new)
	before := lastLines(old[:head], contextLines)
	skipped := strings.Count(old[:head-len(before)], "\n")
	old, new = old[head:], new[head:]
	tail := commonTail(old, new)
	after := firstLines(old[len(old)-tail:], contextLines)
	isWhole := len(before) == head && len(after) == tail
	old, new = old[:len(old)-tail], new[:len(new)-tail]
	h := &hunkPrinter{p: p, excerpts: excerpts{p.full}, depth: depth + 1, room: maxElementsShown}
	if !p.full && (len(old) > maxCompared || len(new) > maxCompared) {
		was, is := firstLines(old, maxElementsShown), firstLines(new, maxElementsShown)
		h.left = countLines(old[len(was):]) + countLines(new[len(is):])
		old, new, after, isWhole = was, is, "", false
	}
	lines := merged(before, old, new, after, skipped)
	p.line(depth, changed, l, `"""`)
	for _, hunk := range hunks(lines) {
		h.print(hunk, !isWhole || len(hunk) < len(lines))
	}
	if h.left > 0 {
		p.add(depth+1, changed, fmt.Sprintf("... %s more; --show-full-output shows them", plural(h.left, "changed line", "changed lines")))
	}
	p.add(depth, same, `"""`)
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

// hunks returns the parts of lines that differ, with the equal lines around them.
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

// hunkHeader returns the line above a hunk: where it is in both texts.
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
			before++ // the first line is 1; of no lines, the one before is named
		}
		return fmt.Sprintf("%d,%d", before, n)
	}
	return "@@ -" + place(hunk[0].old, old) + " +" + place(hunk[0].new, new) + " @@"
}

// hunkPrinter prints the hunks of a unified diff as far as there is room for them.
type hunkPrinter struct {
	p *diffPrinter
	excerpts
	depth int
	room  int // changed lines that may still be printed
	left  int // changed lines that are not
}

// print prints a hunk, and where it is in both texts if that is of interest.
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

// change prints lines that replace others. If there is not room for all, there is for both.
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

// run returns the lines at the beginning that have a mark.
func run(lines []textLine, m mark) []textLine {
	n := 0
	for n < len(lines) && lines[n].mark == m {
		n++
	}
	return lines[:n]
}

// windows returns what is shown of lines that replace others. If they are as many, each one is compared with the one that it replaces.
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

// whole returns a line of which no part stands out.
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

// line prints a line. text is all of it, with its line end if it has one.
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

// markTrailingSpaces makes spaces at the end of a changed line visible: they may be all that differs.
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

// commonHead returns the length of the equal whole lines at the beginning.
func commonHead(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			n = i + 1
		}
	}
	return n
}

// commonTail returns the length of the equal whole lines at the end. Both texts begin at the start of a line.
func commonTail(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	if n := strings.IndexByte(a[len(a)-i:], '\n'); n >= 0 {
		if wholeLine := (i == len(a) || a[len(a)-i-1] == '\n') && (i == len(b) || b[len(b)-i-1] == '\n'); wholeLine {
			return i
		}
		return i - n - 1
	}
	return 0
}

// lastLines returns the last lines of a text that ends with a line end.
func lastLines(s string, n int) string {
	at := len(s)
	for range n {
		if at == 0 {
			break
		}
		at = strings.LastIndexByte(s[:at-1], '\n') + 1
	}
	return s[at:]
}

// firstLines returns the first lines of a text.
func firstLines(s string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}
