package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newUpCommand(open *session.Opener) *cobra.Command {
	f := &flags.Operation{}
	cmd := &cobra.Command{
		Use:     "up",
		Aliases: []string{"update"},
		Short:   "Make the stack what its program declares",
		Long: "Run the program and create, update, replace and delete resources until the stack is what it declares.\n\n" +
			"The changes are previewed first and have to be confirmed, unless --yes is given. Ctrl-C stops: operations\n" +
			"that are running finish and are recorded. A second Ctrl-C asks the providers to abort them.\n\n" +
			"With --plan FILE it is held to a plan that `preview --save-plan FILE` wrote, with --strict to its own preview:\n" +
			"anything that was not planned stops it before it is done.\n\n" +
			"What an interrupted operation was creating is not created again, as it may exist: `sluice recover` finds out.\n" +
			"--import-pending-creates and --pending-creates say what to do otherwise.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return update(cmd.Context(), open, f)
		},
	}
	f.AddUpdate(cmd.Flags())
	flags.AddTiming(cmd.Flags())
	f.AddConfirmation(cmd.Flags())
	addSecretsProvider(cmd, open)
	f.Reports.Add(cmd.Flags())
	f.Plan.AddFollow(cmd.Flags())
	return cmd
}

// addSecretsProvider registers the flag for stacks that are made where a command finds none selected.
func addSecretsProvider(cmd *cobra.Command, open *session.Opener) {
	cmd.Flags().StringVar(&open.Provider, "secrets-provider", "default",
		"for a stack that you make when asked for one: how secrets are encrypted: passphrase, default, which is the same, or the URL of a key service")
}

func update(ctx context.Context, open *session.Opener, f *flags.Operation) error {
	_, job, err := prepareUpdate(ctx, open, f)
	if err != nil {
		return err
	}
	return operate.Run(ctx, job)
}

// prepareUpdate opens the stack of an update or of its preview, and prepares the parts that both share.
func prepareUpdate(ctx context.Context, open *session.Opener, f *flags.Operation) (*session.Stack, *operate.Job, error) {
	s, err := operate.Open(ctx, open, f)
	if err != nil {
		return nil, nil, err
	}
	job, err := operate.Prepare(ctx, s, operate.Update(), f)
	if err != nil {
		return nil, nil, err
	}
	job.Creates, err = pending.ForUpdate(ctx, s, &f.Creates)
	return s, job, err
}
