package operate

import (
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state/backend"
)

// operation is a job in progress.
type operation struct {
	*Job
	foreground foreground
	interrupts sluice.Interrupts
	lock       backend.Lock // nil if only a preview is made
	// warnedOfPending is true once the preview has listed interrupted operations, so that a terminal shows them only
	// once.
	warnedOfPending bool
}
