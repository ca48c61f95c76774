package control

import (
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Emit delivers an event to the run's observer.
func (c *Control) Emit(ev stages.Event) {
	if c.observe != nil {
		c.observe(ev)
	}
}

func (c *Control) Diagnose(u urn.URN, s stages.Severity, code int, message string, as ...advice.Advice) {
	c.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: s, Message: message, URN: u, Advice: as}, Code: code})
}

func (c *Control) Warn(u urn.URN, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	c.Diagnose(u, stages.Warning, 0, err.Error(), advice.Of(err)...)
}
