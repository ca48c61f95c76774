package control

import (
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// events delivers events one at a time.
type events struct {
	mu      sync.Mutex
	observe func(stages.Event)
}

func (e *events) send(ev stages.Event) {
	if e.observe == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observe(ev)
}

// Emit delivers an event to the run's observer.
func (r *Control) Emit(ev stages.Event) { r.events.send(ev) }

func (r *Control) Diagnose(u urn.URN, s stages.Severity, code int, message string) {
	r.events.send(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: s, Message: message, URN: u}, Code: code})
}

func (r *Control) Warn(u urn.URN, format string, args ...any) {
	r.Diagnose(u, stages.Warning, 0, fmt.Sprintf(format, args...))
}
