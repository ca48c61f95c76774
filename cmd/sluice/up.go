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
			"that are running finish and are recorded. A second Ctrl-C asks the providers to abort them.\n\n" +
			"With --plan FILE it is held to a plan that `preview --save-plan FILE` wrote, with --strict to its own preview:\n" +
			"anything that was not planned stops it before it is done.\n\n" +
			"What an interrupted operation was creating is not created again, as it may exist: `sluice recover` finds out.\n" +
			"--import-pending-creates and --pending-creates say what to do otherwise.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.operate(cmd.Context(), updateKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addExcludeDependents(cmd)
	f.addRunProgram(cmd, "with --refresh: read each resource when the program declares it, with the configuration that the program gives its provider")
	f.addReplace(cmd)
	f.policies.add(cmd)
	f.addConfirmation(cmd)
	f.addRefresh(cmd)
	f.addPendingCreates(cmd)
	f.addExpectNoChanges(cmd)
	cmd.Flags().StringVar(&f.plan, "plan", "", "do nothing that the plan in this `file` does not allow")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "do nothing that the preview has not shown; cannot be used with --skip-preview")
	return cmd
}
