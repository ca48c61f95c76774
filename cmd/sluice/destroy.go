package main

import "github.com/spf13/cobra"

func newDestroyCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
	cmd := &cobra.Command{
		Use:     "destroy",
		Aliases: []string{"down", "dn"},
		Short:   "Delete every resource of the stack",
		Long: "Delete every resource of the stack. The stack itself and its configuration stay: see `stack rm`.\n\n" +
			"The deletions are previewed first and have to be confirmed, unless --yes is given. The program does not run.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.operate(cmd.Context(), destroyKind, f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addRunProgram(cmd, "run the program, and delete with the configuration that it gives its providers; delete hooks need this")
	f.addConfirmation(cmd)
	f.addRefresh(cmd)
	cmd.Flags().BoolVar(&f.previewOnly, "preview-only", false, "only show what would be deleted")
	return cmd
}
