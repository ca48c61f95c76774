package stateedit

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm asks somebody at a terminal. Where nobody sits there is nobody to ask, as with Pulumi: scripts say nothing.
func confirm(t *terminal.Terminal, f *Flags, plan string) error {
	if f.Yes || f.JSON || !t.Interactive() {
		return nil
	}
	return ConfirmPlan(t, plan)
}

// ConfirmPlan shows what is going to be done and asks whether to do it.
func ConfirmPlan(t *terminal.Terminal, plan string) error {
	fmt.Fprint(t.Out, plan)
	for {
		answer, err := t.Ask("Do you want to change the state like this? [yes/no] (no): ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined; the state is unchanged")
		}
		fmt.Fprintln(t.Out, "Please answer yes or no.")
	}
}
