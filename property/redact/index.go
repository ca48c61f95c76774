package redact

import (
	"slices"
	"strings"
)

// index finds forms in texts. A form is looked up by how it begins, then by its whole text at each length that forms with this
// beginning have: adding one costs what its text costs, and nothing is rebuilt. A text costs one test of a bit for each byte that begins
// no form.
type index struct {
	forms map[string]struct{}
	// long and short are the lengths of the forms by how they begin, the longest first: those of at least eight bytes, and the others.
	long  map[[longKey]byte][]int
	short map[[minForm]byte][]int
	// begins has a bit for each first three bytes, by their hash.
	begins [1 << 10]uint64
}

const longKey = 8

// hash maps three bytes to a bit of index.begins.
func hash(a, b, c byte) (word, bit uint32) {
	h := (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 2654435769 >> 16
	return h >> 6, h & 63
}

// add adds a form of at least three bytes.
func (x *index) add(form string) {
	if _, known := x.forms[form]; known || len(form) < minForm {
		return
	}
	if x.forms == nil {
		x.forms, x.long, x.short = map[string]struct{}{}, map[[longKey]byte][]int{}, map[[minForm]byte][]int{}
	}
	x.forms[form] = struct{}{}
	if len(form) >= longKey {
		key := [longKey]byte([]byte(form[:longKey]))
		x.long[key] = withLength(x.long[key], len(form))
	} else {
		key := [minForm]byte([]byte(form[:minForm]))
		x.short[key] = withLength(x.short[key], len(form))
	}
	word, bit := hash(form[0], form[1], form[2])
	x.begins[word] |= 1 << bit
}

// withLength adds a length to a descending list.
func withLength(list []int, n int) []int {
	at, found := slices.BinarySearchFunc(list, n, func(a, b int) int { return b - a })
	if found {
		return list
	}
	return slices.Insert(list, at, n)
}

// longest returns the length of the longest form at the beginning of text, 0 if there is none.
func (x *index) longest(text string) int {
	if word, bit := hash(text[0], text[1], text[2]); x.begins[word]&(1<<bit) == 0 {
		return 0
	}
	if len(text) >= longKey {
		if n := x.match(text, x.long[[longKey]byte([]byte(text[:longKey]))]); n > 0 {
			return n
		}
	}
	return x.match(text, x.short[[minForm]byte([]byte(text[:minForm]))])
}

func (x *index) match(text string, lengths []int) int {
	for _, n := range lengths {
		if n > len(text) {
			continue
		}
		if _, is := x.forms[text[:n]]; is {
			return n
		}
	}
	return 0
}

// mask replaces the forms in a text. What is masked already counts as one, so that no form is found inside of it.
func (x *index) mask(text string) string {
	if len(x.forms) == 0 {
		return text
	}
	var out strings.Builder
	copied, from, to := 0, -1, -1 // what is written, and the last interval that is to be masked
	flush := func() {
		if from >= 0 {
			out.WriteString(text[copied:from])
			out.WriteString(Mask)
			copied = to
		}
	}
	for i := 0; i+minForm <= len(text); i++ {
		n := x.longest(text[i:])
		if text[i] == Mask[0] && strings.HasPrefix(text[i:], Mask) {
			n = max(n, len(Mask))
		}
		switch {
		case n == 0:
		case from >= 0 && i <= to:
			to = max(to, i+n)
		default:
			flush()
			from, to = i, i+n
		}
	}
	flush()
	out.WriteString(text[copied:])
	return out.String()
}
