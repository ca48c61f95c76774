package display

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/text/align"
)

const (
	contextShown  = 20   // equal characters left on both sides of the difference in a long text
	maxEmphasized = 4000 // characters up to which words are compared
)

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
		hidden = fmt.Sprintf(" (%s hidden)", format.Plural(equal, "equal character", "equal characters"))
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

// cut shortens a line of a text.
func (e excerpts) cut(text string) string {
	if shown := beginningOf(text, 4*maxTextShown); !e.full && len(shown) < len(text) {
		return shown + fmt.Sprintf("... (%s more)", byteSize(len(text)-len(shown)))
	}
	return text
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
