package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// maxHeld is the approximate number of bytes held back, and maxHeldLine that of one line.
const (
	maxHeld     = 1 << 20
	maxHeldLine = 64 << 10
)

// heldLines are lines that are written later. If there are too many, the first and the last ones are kept.
type heldLines struct {
	first, last         []string
	firstSize, lastSize int // in bytes
	omitted             int // lines between the first and the last
}

func (h *heldLines) add(text string) {
	if len(text) > maxHeldLine {
		text = strings.ToValidUTF8(strings.Clone(text[:maxHeldLine]), "") + fmt.Sprintf("... (%s more)", byteSize(len(text)-maxHeldLine))
	}
	size := len(text) + perMessage
	if h.omitted == 0 && len(h.last) == 0 && h.firstSize+size <= maxHeld/2 {
		h.first, h.firstSize = append(h.first, text), h.firstSize+size
		return
	}
	h.last, h.lastSize = append(h.last, text), h.lastSize+size
	if h.lastSize <= maxHeld/2 {
		return
	}
	n := 0
	for ; h.lastSize > maxHeld/4; n++ { // a quarter at a time, so that it is rare
		h.lastSize -= len(h.last[n]) + perMessage
	}
	h.omitted += n
	h.last = slices.Clone(h.last[n:])
}

// all returns the lines. One line stands for those that were dropped.
func (h *heldLines) all() []string {
	out := slices.Clone(h.first)
	if h.omitted > 0 {
		out = append(out, fmt.Sprintf("... %s left out", format.Plural(h.omitted, "line", "lines")))
	}
	return append(out, h.last...)
}
