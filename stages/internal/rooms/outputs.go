package rooms

import (
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Outputs is the room of the outputs that programs register: which resources may still register them, and those of the root stack,
// which are applied when the run ends. [OutputsOpener] lets a resource register outputs, [OutputsWriter] receives them. It is safe
// for concurrent use.
type Outputs struct {
	mu    sync.Mutex
	open  map[urn.URN]*stages.Decision
	root  *stages.Decision
	stack property.Map
}

// OutputsOpener lets resources register outputs. Only the step executor has it.
type OutputsOpener struct{ outputs *Outputs }

// OutputsWriter receives the outputs that a program registers. Only the monitor has it.
type OutputsWriter struct{ outputs *Outputs }

func newOutputs() (*Outputs, *OutputsOpener, *OutputsWriter) {
	o := &Outputs{open: map[urn.URN]*stages.Decision{}}
	return o, &OutputsOpener{o}, &OutputsWriter{o}
}

// Open lets the resource of a decision register outputs. Outputs of a resource that was not created are ignored.
func (w *OutputsOpener) Open(d *stages.Decision) {
	o := w.outputs
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[d.URN] = d
}

// Take ends the time in which a resource may register outputs. It returns the decision about the resource.
func (w *OutputsWriter) Take(u urn.URN) (*stages.Decision, bool) {
	o := w.outputs
	o.mu.Lock()
	defer o.mu.Unlock()
	d, ok := o.open[u]
	delete(o.open, u)
	return d, ok
}

// SetStack keeps the outputs that the root stack has registered until the run ends.
func (w *OutputsWriter) SetStack(d *stages.Decision, outputs property.Map) {
	o := w.outputs
	o.mu.Lock()
	defer o.mu.Unlock()
	o.root, o.stack = d, outputs
}

// OfStack returns the outputs that the root stack has registered, with the decision about it; nil if it has registered none.
func (o *Outputs) OfStack() (*stages.Decision, property.Map) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.root, o.stack
}
