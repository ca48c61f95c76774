package operate

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// confirm asks whether to go on. plan is nil when there was no preview.
func confirm(o *operation, plan *sluice.Result) error {
	o.foreground.asking.Store(true)
	defer o.foreground.asking.Store(false)
	if o.interrupts.Stopped() {
		return errCancelled()
	}
	question := fmt.Sprintf("Do you want to perform this %s without a preview? [yes/no] (no): ", o.Kind.Noun)
	if plan != nil {
		question = fmt.Sprintf("Do you want to perform this %s? [yes/no/details] (no): ", o.Kind.Noun)
	}
	for {
		answer, err := o.Terminal.Ask(question)
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined, not proceeding with the %s", o.Kind.Noun)
		case "details", "d":
			if plan != nil {
				if err := display.WriteDetails(o.Terminal.Out, displayOptions(o.Job, true, 0), plan.Steps); err != nil {
					return err
				}
				continue
			}
		}
		fmt.Fprintln(o.Terminal.Out, "Please answer yes or no.")
	}
}

func errCancelled() error { return exit.Cancelledf("the operation was cancelled") }
