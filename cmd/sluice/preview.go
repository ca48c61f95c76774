package main

import "github.com/spf13/cobra"

func newPreviewCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
	cmd := &cobra.Command{
		Use:     "preview",
		Aliases: []string{"pre"},
		Short:   "Show what `up` would do",
		Long: "Run the program and show what `up` would do. Nothing is changed.\n\n" +
			"With --save-plan FILE what it shows is written down, and `up --plan FILE` does that and nothing more.\n\n" +
			"The exit status is 0 when the preview succeeds, and 7 with --expect-no-changes when there would be changes.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.previewOnly = true
			return c.operate(cmd.Context(), updateKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addExcludeDependents(cmd)
	f.addRunProgram(cmd, "with --refresh: read each resource when the program declares it, with the configuration that the program gives its provider")
	f.addReplace(cmd)
	f.policies.add(cmd)
	f.addRefresh(cmd)
	f.addPendingCreates(cmd)
	f.addExpectNoChanges(cmd)
	cmd.Flags().StringVar(&f.savePlan, "save-plan", "", "write a plan to this `file`, to be used with up --plan; "+
		"with --show-secrets it holds secrets in plain text")
	cmd.Flags().StringVar(&f.importFile, "import-file", "", "write a file for \"sluice import\" with what would be created, to be completed with IDs")
	return cmd
}
