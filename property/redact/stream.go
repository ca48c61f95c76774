package redact

import "strings"

// Stream masks a text that comes in pieces, wherever it is cut. Its results for the pieces, one after the other, are the result
// of [Set.Mask] for the whole text, if no secret is added in between. It is not safe for concurrent use.
//
// It holds back a possible beginning of a secret until the next piece decides. So it keeps less than the longest form of a
// secret, which the set has in memory anyway.
type Stream struct {
	set     *Set
	held    string
	covered int // how many bytes of held belong to a mask that has been returned, -1 if there is none
}

// Next takes a piece and returns the text that is certain now.
func (t *Stream) Next(piece string) string {
	if t.set == nil {
		return piece
	}
	x, release := t.set.forms(true)
	defer release()
	text := t.held + piece
	return t.advance(x, text, x.begun(text))
}

// End returns the text that is held back: there are no more pieces. The stream can then be used for another text.
func (t *Stream) End() string {
	if t.IsAtRest() {
		return ""
	}
	x, release := t.set.forms(true)
	defer release()
	out := t.advance(x, t.held, len(t.held))
	t.covered = -1
	return out
}

// Abandon is End for a text that may go on, of which no more is read: the text held back counts as a secret.
func (t *Stream) Abandon() string {
	out := Mask
	if t.covered >= 0 || t.held == "" {
		out = "" // it is masked, or follows a mask
	}
	t.held, t.covered = "", -1
	return out
}

// IsAtRest reports whether the next piece can be treated as the beginning of a text.
func (t *Stream) IsAtRest() bool { return t.held == "" && t.covered < 0 }

// advance returns the masked text up to end and holds back the rest.
func (t *Stream) advance(x *index, text string, end int) string {
	var out strings.Builder
	if len(x.forms) == 0 {
		end = len(text)
	}
	t.covered = x.replace(&out, text, end, t.covered)
	t.held = strings.Clone(text[end:])
	if out.Len() == 0 && t.covered < 0 && end == len(text) {
		return text
	}
	return out.String()
}
