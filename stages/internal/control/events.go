package control

import (
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Emit delivers an event to the run's observer.
func (r *Control) Emit(ev stages.Event) {
	if r.observe != nil {
		r.observe(ev)
	}
}

func (r *Control) Diagnose(u urn.URN, s stages.Severity, code int, message string, as ...advice.Advice) {
	r.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: s, Message: message, URN: u, Advice: as}, Code: code})
}

func (r *Control) Warn(u urn.URN, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	r.Diagnose(u, stages.Warning, 0, err.Error(), advice.Of(err)...)
}
