package command

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property/redact"
)

// The output of a command is recorded in the state. The limits are for its beginning and its end.
const (
	maxHead = 8 << 20
	maxTail = 8 << 20
	piece   = 64 << 10
)

// record keeps the output of a stream: once, in pieces that do not move when it grows.
type record struct {
	head []string // pieces
	tail []string // pieces beyond the limit of head
	open []byte   // the piece that is being filled
	size int      // of head
	rest int      // of tail
	left int      // bytes that were dropped between head and tail
}

func (r *record) write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), piece-len(r.open))
		if r.open == nil {
			r.open = make([]byte, 0, min(piece, max(n, 512)))
		}
		r.open, p = append(r.open, p[:n]...), p[n:]
		if len(r.open) == piece {
			r.close()
		}
	}
}

// close ends a piece. The oldest pieces of the tail are dropped when there are too many.
func (r *record) close() {
	if len(r.open) == 0 {
		return
	}
	text := string(r.open)
	r.open = r.open[:0]
	if r.size < maxHead {
		r.head, r.size = append(r.head, text), r.size+len(text)
		return
	}
	r.tail, r.rest = append(r.tail, text), r.rest+len(text)
	for r.rest > maxTail {
		r.left, r.rest = r.left+len(r.tail[0]), r.rest-len(r.tail[0])
		r.tail[0], r.tail = "", r.tail[1:]
	}
}

// text returns the output, without the end of its last line, and drops it from the record. A note in the middle counts the
// missing bytes.
func (r *record) text() string {
	r.close()
	var b strings.Builder
	b.Grow(r.size + r.rest + 200)
	for i := range r.head {
		b.WriteString(r.head[i])
		r.head[i] = ""
	}
	for i := range r.tail {
		text := r.tail[i]
		if i == 0 && r.left > 0 {
			_, rest, _ := strings.Cut(text, "\n") // the part before may be the second half of a secret
			left := r.left + len(text) - len(rest)
			fmt.Fprintf(&b, "%s\n... %d bytes are left out here ...\n", redact.CutNote(r.size, r.size+r.rest+r.left), left)
			text = rest
		}
		b.WriteString(text)
		r.tail[i] = ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
