package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/autolog"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

func newLogsCommand(t *terminal.Terminal) *cobra.Command {
	var stack string
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the logs that operations have written by themselves",
		Long: "Show the logs that updates, destroys, refreshes and imports write by themselves into the home folder of Pulumi. A log has\n" +
			"the steps and messages of an operation, without the properties of resources, and secrets are masked. Previews write none.\n\n" +
			"The last 200 logs are kept, for 7 days (PULUMI_LOG_ROTATION_MAX_AGE_DAYS), as long as they have no more than 500 MB\n" +
			"(PULUMI_LOG_ROTATION_MAX_TOTAL_MB). With PULUMI_AUTOMATIC_LOGS=false, none is written.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVarP(&stack, "stack", "s", "", "only logs of this stack, in any form of its name")
	cmd.AddCommand(newLogsListCommand(t, &stack), newLogsShowCommand(t, &stack), newLogsRemoveCommand(t, &stack))
	cmd.AddCommand(newHostedCommands(hosted{
		name: "share", short: "Encrypt a log for the support of the hosted service", because: "Sluice sends logs to nobody",
		instead: "`sluice logs show` prints a log, whose secrets are masked",
	})...)
	return cmd
}

// automaticLogs returns the logs, the newest first: those of a stack, if one is named.
func automaticLogs(t *terminal.Terminal, stack string) ([]autolog.Entry, error) {
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return nil, err
	}
	all, err := autolog.List(home)
	return slices.DeleteFunc(all, func(e autolog.Entry) bool { return !e.IsOf(stack) }), err
}
