package operate

import (
	"reflect"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/estimate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages/why"
)

// operation is a job in progress.
type operation struct {
	job        *Job
	foreground foreground
	interrupts sluice.Interrupts
	guard      *interrupts.Guard
	host       *host.Host         // has the plugins of all phases
	program    source.Program     // of all phases; nil if there is none
	noProgram  error              // why there is none
	given      flags.Targeting    // as the command line has chosen resources, before the user chose others at the question
	previewed  *display.Report    // the preview before the question; nil if it was not shown on a screen
	service    *ciservice.Service // nil if no service runs the job
	forecast   *display.Forecast  // the forecast of the preceding preview; nil if there was none
	planned    *why.Log           // the decisions of the preceding preview; nil if there was none, or they are unknown
	work       *estimate.Work     // the steps of the operation and their progress
	answers    answers            // what the phases take over from earlier runs, and the operation from its preview
	reading    *reading           // what is read first; nil: as the flags say, all or nothing
	reads      reads              // the reads of the operation itself
	partial    string             // how the operation goes on after its failed preview; "" if it does not
	explained  bool               // the signs of the display are explained
	// warnedOfPending is true once the preview has listed interrupted operations, so that they are listed only once.
	warnedOfPending bool
}

// lost stops the operation when its lease is lost.
func (o *operation) lost(err error) {
	o.foreground.note(o.job.Terminal.Named(advise.Text(err)))
	o.interrupts.Stop()
}

// left formats how long the operation will still take, "" if there is no estimate, such as while the user has paused
// it.
func (o *operation) left(now time.Time) string {
	if o.interrupts.Stopped() || o.interrupts.Paused() {
		return ""
	}
	return o.work.Left(now)
}

// screens reports whether the operation draws on the whole screen and reads keys.
func (o *operation) screens() bool {
	return o.job.Terminal.Drawable() && (o.job.Flags.Display.Form == flags.Tree || o.job.Flags.Display.Form == flags.Unset)
}

// isNarrowed reports whether the user has chosen other resources at the question.
func (o *operation) isNarrowed() bool { return !reflect.DeepEqual(o.given, o.job.Flags.Targeting) }

// asks reports whether a question follows the preview, with saving the plan as one answer.
func (o *operation) asks() bool {
	f := o.job.Flags.Confirmation
	return o.screens() && o.job.Kind.NeedsProgram && !f.PreviewOnly && !f.Yes && o.job.plan == nil
}
