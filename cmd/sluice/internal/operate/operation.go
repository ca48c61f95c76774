package operate

import (
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
)

// operation is a job in progress.
type operation struct {
	*Job
	foreground foreground
	interrupts sluice.Interrupts
	guard      *interrupts.Guard
	previewed  *display.Report // the preview before the question; nil if it was not shown on a screen
	// warnedOfPending is true once the preview has listed interrupted operations, so that a terminal shows them only
	// once.
	warnedOfPending bool
}
