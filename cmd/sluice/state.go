package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newStateCommand(open *session.Opener) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Edit the recorded state of a stack",
		Long: "Edit the recorded state of a stack: what sluice knows of it, never what is in the cloud.\n\n" +
			"A resource is named by its URN, or by its name if no other resource has it. `sluice stack --show-urns` lists\n" +
			"the URNs. Put them in single quotes: the shell would replace what follows a $.\n\n" +
			"The previous state stays beside the stack file, in a file that ends in .bak. An edit that is refused changes\n" +
			"nothing.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newStateGetCommand(open), newStateDeleteCommand(open), newStateProtectCommand(open), newStateUnprotectCommand(open), newStateTaintCommand(open), newStateRetainCommand(open), newStateUnretainCommand(open),
		newStateUntaintCommand(open), newStateRenameCommand(open), newStateMoveCommand(open), newStateRepairCommand(open),
		newStateEditCommand(open), newStateUpgradeCommand(open),
	)
	return cmd
}
