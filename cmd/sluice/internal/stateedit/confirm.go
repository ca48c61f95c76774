package stateedit

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm asks the user at a terminal. Without a terminal it does not ask, like Pulumi, because scripts cannot answer.
func confirm(ctx context.Context, t *terminal.Terminal, f *Flags, plan string) error {
	if f.Yes || f.JSON || !t.Interactive() {
		return nil
	}
	return ConfirmPlan(ctx, t, plan)
}

// ConfirmPlan shows the plan and asks whether to carry it out.
func ConfirmPlan(ctx context.Context, t *terminal.Terminal, plan string) error {
	fmt.Fprint(t.Out, plan)
	confirmed, err := terminal.Confirm(ctx, t, "Do you want to change the state like this?", nil)
	if err == nil && !confirmed {
		err = errors.New("confirmation declined; the state is unchanged")
	}
	return err
}
