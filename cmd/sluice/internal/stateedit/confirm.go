package stateedit

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm asks the user at a terminal. Without a terminal it does not ask, like Pulumi, because scripts cannot answer.
func confirm(t *terminal.Terminal, f *Flags, plan string) error {
	if f.Yes || f.JSON || !t.Interactive() {
		return nil
	}
	return ConfirmPlan(t, plan)
}

// ConfirmPlan shows the plan and asks whether to carry it out.
func ConfirmPlan(t *terminal.Terminal, plan string) error {
	fmt.Fprint(t.Out, plan)
	confirmed, err := terminal.Confirm(t, "Do you want to change the state like this?", nil)
	if err == nil && !confirmed {
		err = errors.New("confirmation declined; the state is unchanged")
	}
	return err
}
