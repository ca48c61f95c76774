package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

func newRefreshCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Record how the stack's resources are now",
		Long: "Read every resource of the stack from its provider and record what is found. No resource is changed; only the\n" +
			"state changes. The program does not run, unless --run-program is given: then the resources are read with the\n" +
			"configuration that it gives its providers.\n\n" +
			"What has become of creates that an earlier operation began and did not end cannot be found out by reading. At a\n" +
			"terminal you are asked about each of them; --clear-pending-creates and --import-pending-creates answer that.\n\n" +
			"What would be recorded is previewed first and has to be confirmed, unless --yes is given.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(f.policies.packs) > 0 && !f.runProgram {
				return exit.Usagef("--policy-pack needs --run-program: policies judge what the program declares")
			}
			return c.operate(cmd.Context(), refreshKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addExcludeDependents(cmd)
	f.addRunProgram(cmd, "run the program, and read with the configuration that it gives its providers")
	f.policies.add(cmd)
	f.addConfirmation(cmd)
	f.addExpectNoChanges(cmd)
	p := cmd.Flags()
	p.BoolVar(&f.clearCreates, "clear-pending-creates", false, "forget all creates that an earlier operation began and whose end nobody knows")
	f.addImportCreates(cmd)
	p.BoolVar(&f.skipCreates, "skip-pending-creates", false, "do not ask about interrupted creates")
	cmd.Flags().BoolVar(&f.previewOnly, "preview-only", false, "only show what would be recorded")
	return cmd
}
