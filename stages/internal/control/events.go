package control

import (
	"fmt"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Emit delivers an event to the run's observer.
func (r *Control) Emit(ev stages.Event) {
	if r.observe != nil {
		r.observe(ev)
	}
}

func (r *Control) Diagnose(u urn.URN, s stages.Severity, code int, message string) {
	r.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: s, Message: message, URN: u}, Code: code})
}

func (r *Control) Warn(u urn.URN, format string, args ...any) {
	r.Diagnose(u, stages.Warning, 0, fmt.Sprintf(format, args...))
}
