package policy

import (
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// output keeps what a pack prints until the pack has started. If it does not start, the error message contains the
// output.
type output struct {
	mu       sync.Mutex // guards what follows
	show     func(plugin.Line)
	released bool
	held     []plugin.Line
}

// maxHeld bounds what is kept; the rest is dropped.
const maxHeld = 1000

func newOutput(log func(stages.LogMessage), name string) *output {
	return &output{show: direct.Forward(log, name)}
}

func (o *output) line(l plugin.Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.released:
		o.show(l)
	case len(o.held) < maxHeld:
		o.held = append(o.held, l)
	}
}

func (o *output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.released = true
	for _, l := range o.held {
		o.show(l)
	}
	o.held = nil
}
