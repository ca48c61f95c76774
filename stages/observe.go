package stages

import (
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/urn"
)

// events delivers events one at a time.
type events struct {
	mu      sync.Mutex
	observe func(Event)
}

func (e *events) send(ev Event) {
	if e.observe == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observe(ev)
}

// Emit delivers an event to the run's observer.
func (r *control) Emit(ev Event) { r.events.send(ev) }

func (r *control) diagnose(u urn.URN, s Severity, code int, message string) {
	r.events.send(Diagnostic{LogMessage: LogMessage{Severity: s, Message: message, URN: u}, Code: code})
}

func (r *control) warn(u urn.URN, format string, args ...any) {
	r.diagnose(u, Warning, 0, fmt.Sprintf(format, args...))
}
