package main

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
)

// confirm asks whether to go on. plan is nil when there was no preview.
func (o *operation) confirm(plan *sluice.Result) error {
	o.asking.Store(true)
	defer o.asking.Store(false)
	if o.interrupts.Stopped() {
		return cancelledError()
	}
	question := fmt.Sprintf("Do you want to perform this %s without a preview? [yes/no] (no): ", o.kind.noun)
	if plan != nil {
		question = fmt.Sprintf("Do you want to perform this %s? [yes/no/details] (no): ", o.kind.noun)
	}
	for {
		answer, err := o.cli.Ask(question)
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined, not proceeding with the %s", o.kind.noun)
		case "details", "d":
			if plan != nil {
				if err := display.WriteDetails(o.cli.Out, o.displayOptions(true, 0), plan.Steps); err != nil {
					return err
				}
				continue
			}
		}
		fmt.Fprintln(o.cli.Out, "Please answer yes or no.")
	}
}
