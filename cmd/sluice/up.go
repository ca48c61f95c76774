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
		Short:   "Create, update and delete resources to match the program",
		Long: "Run the program and create, update, replace and delete resources until the stack matches it.\n\n" +
			"The command first shows a preview and asks for confirmation, unless --yes is given. Ctrl-C stops the update: running\n" +
			"operations finish and are recorded. A second Ctrl-C asks the providers to abort them.\n\n" +
			"At the question you can also choose resources of the preview: include or exclude some, or do only what is new. Another\n" +
			"preview then shows what would happen.\n\n" +
			"With --plan FILE, the update is restricted to a plan that `preview --save-plan FILE` wrote; with --strict, to its own\n" +
			"preview. Anything else stops the update before it is done.\n\n" +
			"If a create was interrupted, its object may exist, so the update does not create it again: run `sluice recover`.\n" +
			"--import-pending-creates and --pending-creates give other answers.",
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

// addSecretsProvider registers the flag for a stack that the command makes if none is selected.
func addSecretsProvider(cmd *cobra.Command, open *session.Opener) {
	cmd.Flags().StringVar(&open.Provider, "secrets-provider", "default",
		"if the command creates a stack: how its secrets are encrypted: passphrase, default (the same), or the URL of a key service")
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
