package operate

import (
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/estimate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/stages/why"
)

// operation is a job in progress.
type operation struct {
	*Job
	foreground foreground
	interrupts sluice.Interrupts
	guard      *interrupts.Guard
	previewed  *display.Report    // the preview before the question; nil if it was not shown on a screen
	service    *ciservice.Service // nil if no service runs the job
	forecast   *display.Forecast  // the forecast of the preceding preview; nil if there was none
	planned    *why.Log           // the decisions of the preceding preview; nil if there was none, or they are unknown
	work       *estimate.Work     // the steps of the operation and their progress
	explained  bool               // the signs of the display are explained
	// warnedOfPending is true once the preview has listed interrupted operations, so that they are listed only once.
	warnedOfPending bool
}
