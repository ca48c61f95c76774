package stateedit

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm requests a confirmation at a terminal. Without a terminal it requests none, like Pulumi, because scripts
// cannot answer.
func confirm(ctx context.Context, t *terminal.Terminal, f *Flags, plan string) error {
	if f.Yes || f.JSON || !t.Interactive() {
		return nil
	}
	return ConfirmPlan(ctx, t, plan)
}

// ConfirmPlan shows the plan and requests a confirmation.
func ConfirmPlan(ctx context.Context, t *terminal.Terminal, plan string) error {
	fmt.Fprint(t.Out, plan)
	confirmed, err := terminal.Confirm(ctx, t, "Do you want to change the state like this?")
	if err == nil && !confirmed {
		err = errors.New("confirmation declined; the state is unchanged")
	}
	return err
}
