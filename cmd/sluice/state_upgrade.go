package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStateUpgradeCommand(open *session.Opener) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Convert a backend of old Pulumi versions to the present layout",
		Long: "Convert a backend of old Pulumi versions, which keeps stacks without projects, to the present layout, in which stacks\n" +
			"belong to projects. The resources of a stack name its project. For a stack without resources, the command asks for the\n" +
			"project, or leaves the stack as it is. Pulumi versions before 3.61 cannot use the backend afterwards.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return upgradeState(cmd.Context(), open.Terminal, yes, asJSON)
		},
	}
	flags.AddYes(cmd.Flags(), &yes, "do not ask for confirmation")
	flags.AddJSON(cmd.Flags(), &asJSON, "write what has become of the stacks as JSON, and ask nothing")
	return cmd
}

// upgradedInJSON reports what became of a stack.
type upgradedInJSON struct {
	Stack   string `json:"stack"`
	Project string `json:"project,omitempty"`
	Error   string `json:"error,omitempty"`
}

func upgradeState(ctx context.Context, t *terminal.Terminal, yes, asJSON bool) error {
	url, err := session.BackendURL(t.Lookup)
	if err != nil {
		return err
	}
	b, err := host.OpenBackend(ctx, host.BackendOptions{
		URL: url, LookupEnv: t.Lookup, Stores: cloud.Stores(), Note: t.WarnWith,
	})
	if err != nil {
		return err
	}
	if !yes && !asJSON {
		if !t.Interactive() {
			return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := terminal.ConfirmByName(ctx, t, "This will upgrade "+backend.MaskURL(url)+": versions of Pulumi before 3.61 cannot use it any more.", "yes"); err != nil {
			return err
		}
	}
	ask := func(string) (string, error) { return "", nil }
	if t.Interactive() && !asJSON {
		ask = func(stack string) (string, error) {
			return t.Ask(ctx, fmt.Sprintf("Which project does the stack '%s' belong to? (empty to leave it): ", stack))
		}
	}
	upgraded, err := b.Upgrade(ctx, ask)
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	return reportUpgrade(t, upgraded, asJSON)
}

func reportUpgrade(t *terminal.Terminal, upgraded []backend.Upgraded, asJSON bool) error {
	out := []upgradedInJSON{}
	done := 0
	for _, u := range upgraded {
		entry := upgradedInJSON{Stack: u.Name, Project: u.Project}
		switch {
		case u.Err != nil:
			entry.Error = t.Named(advise.Text(u.Err))
			t.Warn("stack '%s' was left as it is: %v", u.Name, u.Err)
		case u.Project == "":
			t.Warn("stack '%s' was left as it is: its project is not known", u.Name)
		default:
			done++
		}
		out = append(out, entry)
	}
	if asJSON {
		return format.JSON(t.Data(), out)
	}
	_, err := fmt.Fprintf(t.Out, "Upgraded %d of %d stacks.\n", done, len(upgraded))
	return err
}
