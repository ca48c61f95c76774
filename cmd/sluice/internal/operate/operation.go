package operate

import "github.com/sluice-iac/sluice"

// operation is a job in progress.
type operation struct {
	*Job
	foreground foreground
	interrupts sluice.Interrupts
	// warnedOfPending is true once the preview has listed interrupted operations, so that a terminal shows them only
	// once.
	warnedOfPending bool
}
