package align

import (
	"unicode"
	"unicode/utf8"
)

// Words splits a text into words, runs of spaces, and other characters. Joined, they are the text.
func Words(text string) []string {
	var out []string
	start, last := 0, other
	for i, r := range text {
		if k := kindOf(r); i > 0 && (k != last || k == other) {
			out = append(out, text[start:i])
			start, last = i, k
		} else {
			last = k
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

type kind int

const (
	other kind = iota
	word
	space
)

func kindOf(r rune) kind {
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
		return word
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// Part is a piece of a text. It is common to both texts, or differs.
type Part struct {
	Text    string
	Differs bool
}

// Emphasis splits two texts into common and differing parts: by words or, if few words are common, into equal ends and the rest between them. If
// the ends are too short as well, each text is one part without emphasis.
func Emphasis(old, new string) (o, n []Part) {
	a, b := Words(old), Words(new)
	pairs := Common(a, b)
	common := 0
	for _, p := range pairs {
		if r, _ := utf8.DecodeRuneInString(a[p.Old]); kindOf(r) != space {
			common += len(a[p.Old])
		}
	}
	if common*minCommon < max(len(old), len(new)) {
		return ends(old, new)
	}
	sameOld, sameNew := make([]bool, len(a)), make([]bool, len(b))
	for _, p := range pairs {
		sameOld[p.Old], sameNew[p.New] = true, true
	}
	return joined(a, sameOld), joined(b, sameNew)
}

// minCommon is the inverse of the fraction of a text that must be common for the rest to be emphasized: a fifth.
const minCommon = 5

// ends splits two texts into equal beginnings, equal ends, and the rest.
func ends(old, new string) (o, n []Part) {
	head := equalEnd(old, new, func(text string, done int) string {
		_, size := utf8.DecodeRuneInString(text[done:])
		return text[done : done+size]
	})
	tail := equalEnd(old[head:], new[head:], func(text string, done int) string {
		text = text[:len(text)-done]
		_, size := utf8.DecodeLastRuneInString(text)
		return text[len(text)-size:]
	})
	if (head+tail)*minCommon < max(len(old), len(new)) {
		head, tail = 0, 0
	}
	split := func(text string) (out []Part) {
		for i, piece := range []string{text[:head], text[head : len(text)-tail], text[len(text)-tail:]} {
			if piece != "" {
				out = append(out, Part{piece, i == 1 && head+tail > 0})
			}
		}
		return out
	}
	return split(old), split(new)
}

// equalEnd returns how many bytes are equal at one end of two texts. next returns the next character of a text after done bytes, "" at its end.
func equalEnd(a, b string, next func(text string, done int) string) int {
	done := 0
	for {
		c := next(a, done)
		if c == "" || c != next(b, done) {
			return done
		}
		done += len(c)
	}
}

// joined merges adjacent words with the same flag.
func joined(words []string, same []bool) []Part {
	var out []Part
	for i, w := range words {
		if n := len(out); n > 0 && out[n-1].Differs == !same[i] {
			out[n-1].Text += w
			continue
		}
		out = append(out, Part{w, !same[i]})
	}
	return out
}
