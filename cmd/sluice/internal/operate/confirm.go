package operate

import (
	"fmt"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm asks whether to continue. plan is nil when there was no preview.
func confirm(o *operation, plan *sluice.Result) error {
	o.foreground.asking.Store(true)
	defer o.foreground.asking.Store(false)
	if o.interrupts.Stopped() {
		return errCancelled()
	}
	question := fmt.Sprintf("Do you want to perform this %s without a preview?", o.Kind.Noun)
	var details func() error
	if plan != nil {
		question = fmt.Sprintf("Do you want to perform this %s?", o.Kind.Noun)
		details = func() error {
			return display.WriteDetails(o.Terminal.Out, displayOptions(o.Job, true, 0), plan.Steps)
		}
	}
	confirmed, err := terminal.Confirm(o.Terminal, question, details)
	if err == nil && !confirmed {
		err = fmt.Errorf("confirmation declined, not proceeding with the %s", o.Kind.Noun)
	}
	return err
}

func errCancelled() error { return exit.Cancelledf("the operation was cancelled") }
