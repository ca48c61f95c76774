package operate

import (
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state/backend"
)

// operation is a job while it goes on.
type operation struct {
	*Job
	foreground foreground
	interrupts sluice.Interrupts
	lock       backend.Lock // nil when only a preview is made
	// warnedOfPending is true once the preview has listed interrupted operations: at a terminal once is enough.
	warnedOfPending bool
}
