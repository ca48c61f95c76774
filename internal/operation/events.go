package operation

import (
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// events delivers events one at a time: those of the operation, and those of its run. All of them pass through it, without
// the secrets in their texts.
type events struct {
	masks   masks
	mu      sync.Mutex
	observe func(stages.Event) // nil discards
}

func (e *events) emit(ev stages.Event) {
	ev = e.masks.event(ev)
	if e.observe == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observe(ev)
}

// show emits a message.
func (e *events) show(m stages.LogMessage) { e.emit(stages.Diagnostic{LogMessage: m}) }

func (e *events) warn(u urn.URN, message string) {
	e.show(stages.LogMessage{Severity: stages.Warning, URN: u, Message: message})
}

// showError emits a message about an error. Errors that make the run fail go through [standard.Run.Fail], which records
// them too.
func (e *events) showError(message string) {
	e.show(stages.LogMessage{Severity: stages.Error, Message: message})
}
