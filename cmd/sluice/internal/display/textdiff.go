package display

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
)

const (
	maxCompared = 1 << 20 // bytes of the differing part; of longer ones only the beginning is compared
	maxAbreast  = 100     // characters of two texts on one line
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

// textDiff prints the difference between two texts.
type textDiff struct {
	out      *lineWriter
	depth    int
	label    label
	excerpts excerpts
}

// print prints the difference line by line if the texts have several lines, else on one line or two.
func (d textDiff) print(old, new string) {
	if strings.Count(old, "\n") > 1 || strings.Count(new, "\n") > 1 {
		d.lines(old, new)
		return
	}
	was, is, hidden := d.excerpts.abreast(old, new, quotedPart)
	quote := func(c colour, w window) []span {
		spans := append([]span{{text: w.before + `"`, colour: c}}, w.spans(c)...)
		return append(spans, span{text: `"` + w.after, colour: c})
	}
	if was.length()+is.length() <= maxAbreast {
		spans := append(quote(red, was), span{text: arrow, colour: grey})
		d.out.spans(d.depth, changed, d.label, append(append(spans, quote(green, is)...), span{text: hidden})...)
		return
	}
	d.out.line(d.depth, changed, d.label, strings.TrimSpace(hidden))
	d.out.spans(d.depth+1, removed, label{}, quote(red, was)...)
	d.out.spans(d.depth+1, added, label{}, quote(green, is)...)
}

// lines prints the parts in which two texts differ as a unified diff. It skips equal lines at both ends without splitting them.
func (d textDiff) lines(old, new string) {
	head := commonHead(old, new)
	before := lastLines(old[:head], contextLines)
	skipped := strings.Count(old[:head-len(before)], "\n")
	old, new = old[head:], new[head:]
	tail := commonTail(old, new)
	after := firstLines(old[len(old)-tail:], contextLines)
	isWhole := len(before) == head && len(after) == tail
	old, new = old[:len(old)-tail], new[:len(new)-tail]
	h := &hunkPrinter{out: d.out, excerpts: d.excerpts, depth: d.depth + 1, room: maxElementsShown}
	if !d.excerpts.full && (len(old) > maxCompared || len(new) > maxCompared) {
		was, is := firstLines(old, maxElementsShown), firstLines(new, maxElementsShown)
		h.left = countLines(old[len(was):]) + countLines(new[len(is):])
		old, new, after, isWhole = was, is, "", false
	}
	lines := merged(before, old, new, after, skipped)
	d.out.line(d.depth, changed, d.label, `"""`)
	for _, hunk := range hunks(lines) {
		h.print(hunk, !isWhole || len(hunk) < len(lines))
	}
	if h.left > 0 {
		d.out.add(d.depth+1, changed, fmt.Sprintf("... %s more; --show-full-output shows them", format.Plural(h.left, "changed line", "changed lines")))
	}
	d.out.add(d.depth, same, `"""`)
}

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

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
