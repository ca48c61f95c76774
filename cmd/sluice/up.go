package main

import "github.com/spf13/cobra"

func newUpCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
	cmd := &cobra.Command{
		Use:     "up",
		Aliases: []string{"update"},
		Short:   "Make the stack what its program declares",
		Long: "Run the program and create, update, replace and delete resources until the stack is what it declares.\n\n" +
			"The changes are previewed first and have to be confirmed, unless --yes is given. Ctrl-C stops: operations\n" +
			"that are running finish and are recorded. A second Ctrl-C asks the providers to abort them.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.operate(cmd.Context(), updateKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addReplace(cmd)
	f.addConfirmation(cmd)
	f.addRefresh(cmd)
	f.addExpectNoChanges(cmd)
	return cmd
}
