package display

import (
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/stages"
)

// FailureText describes why an operation has failed, for texts that are written after it. It is safe for concurrent
// use.
type FailureText struct {
	mu sync.Mutex
	facts
}

// NewFailureText begins a text about an operation with these options.
func NewFailureText(o Options) *FailureText {
	o.Color, o.Diff, o.ShowFullOutput = false, false, false
	return &FailureText{facts: newFacts(o)}
}

// Observe processes an event.
func (f *FailureText) Observe(e stages.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.m.observe(e)
}

// Text returns the causes, the resources that were not reached because of each, and the next step; "" if nothing has
// failed.
func (f *FailureText) Text(e Ending) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.explain(e)
	text, _ := f.failureSection()
	return strings.TrimSuffix(text, "\n")
}
