package redact

import (
	"maps"
	"slices"
	"strings"
)

// index finds forms in texts. A form is looked up by its beginning, then by its whole text at each length of the forms with this
// beginning. Adding a form costs time in proportion to its length, and nothing is rebuilt. In a text, each byte that begins no form
// costs one test of a bit.
type index struct {
	forms map[string]struct{}
	// long and short are the lengths of the forms by their beginning, the longest first: long has those of at least eight bytes, short
	// the others.
	long  map[[longKey]byte][]int
	short map[[minForm]byte][]int
	// begins has a bit for each first three bytes, by their hash.
	begins [1 << 10]uint64
	// ordered are the forms in byte order as of the last call of order; recent are those added since.
	ordered, recent []string
	longestForm     int // the length of the longest form
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
		x.add(Mask)
	}
	x.forms[form] = struct{}{}
	x.longestForm = max(x.longestForm, len(form))
	if x.ordered != nil {
		x.recent = append(x.recent, form)
	}
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

// mayBegin reports whether a form may begin with the first three bytes of text.
func (x *index) mayBegin(text string) bool {
	word, bit := hash(text[0], text[1], text[2])
	return x.begins[word]&(1<<bit) != 0
}

// longest returns the length of the longest form at the beginning of text, 0 if there is none.
func (x *index) longest(text string) int {
	if !x.mayBegin(text) {
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

// mask replaces the forms in a text. A mask in the text counts as one, so that no form is found inside it. The text before a
// [CutNote] counts as a form if a form begins with it. The index must be in order if there is such a note.
func (x *index) mask(text string) string {
	if len(x.forms) == 0 {
		return text
	}
	var out strings.Builder
	if x.replace(&out, text, len(text), -1); out.Len() == 0 {
		return text
	}
	return out.String()
}

// replace writes the bytes of a text up to end, with the forms that begin there replaced. covered is the number of bytes at the
// beginning, maybe 0, that belong to a mask that is written already, and -1 if there is none. It returns the covered value for the
// rest of the text. It writes nothing if nothing is to be replaced and end is the end of the text.
func (x *index) replace(out *strings.Builder, text string, end, covered int) int {
	copied, to := max(covered, 0), covered
	cuts := x.cuts(text)
	for i := 0; i < end && i+minForm <= len(text); i++ {
		n := x.longest(text[i:])
		for len(cuts) > 0 && i >= cuts[0].from {
			n = max(n, cuts[0].to-i)
			cuts = cuts[1:]
		}
		if n == 0 {
			continue
		}
		if i > to {
			out.WriteString(text[copied:i])
			out.WriteString(Mask)
		}
		to = max(to, i+n)
		copied = to
	}
	if copied < end && (copied > 0 || end < len(text)) {
		out.WriteString(text[copied:end])
	}
	if to < end {
		return -1
	}
	return to - end
}

// interval is a part of a text.
type interval struct{ from, to int }

// cuts returns the beginnings of forms that notes have cut off.
func (x *index) cuts(text string) []interval {
	var list []interval
	for note := range notes(text) {
		if from := x.begun(text[:note]); from < note {
			list = append(list, interval{from, note})
		}
	}
	return list
}

// begun returns the offset of the longest end of a text that is a proper beginning of a form: the continuation of the text decides
// whether it is one. It returns the length of the text if there is none. The index must be in order.
func (x *index) begun(text string) int {
	for i := max(0, len(text)-x.longestForm+1); i < len(text); i++ {
		if tail := text[i:]; len(tail) < minForm || x.mayBegin(tail) {
			at, whole := slices.BinarySearch(x.ordered, tail)
			if whole {
				at++
			}
			if at < len(x.ordered) && strings.HasPrefix(x.ordered[at], tail) {
				return i
			}
		}
	}
	return len(text)
}

func (x *index) isOrdered() bool { return len(x.ordered) == len(x.forms) && len(x.recent) == 0 }

// order sorts the forms for begun. Most runs never need it.
func (x *index) order() {
	if x.ordered == nil {
		x.ordered = slices.Sorted(maps.Keys(x.forms))
		return
	}
	slices.Sort(x.recent)
	merged := make([]string, 0, len(x.ordered)+len(x.recent))
	for _, form := range x.ordered {
		for len(x.recent) > 0 && x.recent[0] < form {
			merged, x.recent = append(merged, x.recent[0]), x.recent[1:]
		}
		merged = append(merged, form)
	}
	x.ordered, x.recent = append(merged, x.recent...), nil
}
