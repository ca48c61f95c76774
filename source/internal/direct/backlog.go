package direct

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// Limits on what a [Backlog] keeps.
const (
	maxLines = 1000
	maxBytes = 1 << 20
)

// Backlog keeps the output of a process while it cannot be shown. It drops whole lines after 1000 lines or 1 MiB, and adds a line that
// reports this. The zero Backlog is empty. It is safe for concurrent use.
type Backlog struct {
	mu      sync.Mutex // guards the rest
	show    func(plugin.Line)
	held    []plugin.Line
	size    int            // of held, in bytes
	dropped int            // lines
	passing map[int32]bool // the streams in the middle of a dropped line
}

// Line shows a line, or keeps it.
func (b *Backlog) Line(l plugin.Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	passes := l.Rest && b.passing[stream(l)]
	delete(b.passing, stream(l))
	if passes || b.show == nil && !b.fits(l) {
		b.drop(l, passes)
		return
	}
	if b.show != nil {
		b.show(l)
		return
	}
	b.held, b.size = append(b.held, l), b.size+len(l.Text)
}

// stream returns the number of a line's stream: standard output or standard error.
func stream(l plugin.Line) int32 {
	if l.Stderr {
		return 2
	}
	return 1
}

// fits reports whether a line can be kept. Once a line has been dropped, so are all after it.
func (b *Backlog) fits(l plugin.Line) bool {
	return b.dropped == 0 && len(b.held) < maxLines && b.size+len(l.Text) <= maxBytes
}

// drop drops a line and the kept pieces of the same line: half a line could end within a secret.
func (b *Backlog) drop(l plugin.Line, counted bool) {
	if !counted {
		b.dropped++
	}
	if l.Cut {
		if b.passing == nil {
			b.passing = map[int32]bool{}
		}
		b.passing[stream(l)] = true
	}
	for i := len(b.held) - 1; l.Rest && i >= 0; i-- {
		if held := b.held[i]; stream(held) == stream(l) {
			if !held.Cut {
				return // it belongs to a line before
			}
			b.size -= len(held.Text)
			b.held = slices.Delete(b.held, i, i+1)
		}
	}
}

// ShowTo shows the kept lines, and from now on each line as it comes.
func (b *Backlog) ShowTo(show func(plugin.Line)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show = show
	for _, l := range b.held {
		show(l)
	}
	if b.dropped > 0 {
		text := "... (1 more line is not shown)"
		if b.dropped > 1 {
			text = fmt.Sprintf("... (%d more lines are not shown)", b.dropped)
		}
		show(plugin.Line{Piece: plugin.Piece{Text: text}, Stderr: true})
	}
	b.held, b.size, b.dropped = nil, 0, 0
}

// Hold keeps all further lines.
func (b *Backlog) Hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show = nil
}
