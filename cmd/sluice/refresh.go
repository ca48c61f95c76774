package main

import "github.com/spf13/cobra"

func newRefreshCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Record how the stack's resources are now",
		Long: "Read every resource of the stack from its provider and record what is found. No resource is changed and the\n" +
			"program does not run; only the state changes.\n\n" +
			"What would be recorded is previewed first and has to be confirmed, unless --yes is given.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.operate(cmd.Context(), refreshKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addExcludeDependents(cmd)
	f.addRunProgram(cmd, "run the program, and read with the configuration that it gives its providers")
	f.addConfirmation(cmd)
	f.addExpectNoChanges(cmd)
	cmd.Flags().BoolVar(&f.previewOnly, "preview-only", false, "only show what would be recorded")
	return cmd
}
