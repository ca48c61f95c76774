package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackRemoveCommand(open *session.Opener, stack *string) *cobra.Command {
	var force, yes, preserveConfig, backups bool
	cmd := &cobra.Command{
		Use:     "rm [name]",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove a stack, its history and its configuration file",
		Long: "Remove a stack, its history and its configuration file. A stack that still has resources is refused, unless\n" +
			"--force is given: then they are forgotten, not deleted.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := *stack
			if len(args) == 1 {
				if name != "" && name != args[0] {
					return exit.Usagef("only one of --stack or argument stack name may be specified, not both")
				}
				name = args[0]
			}
			return removeStack(cmd.Context(), open, name, yes, preserveConfig, backend.RemoveOptions{Force: force, Backups: backups})
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "remove the stack even if it has resources; the resources are not deleted")
	flags.AddYes(cmd.Flags(), &yes, "do not ask for confirmation")
	cmd.Flags().BoolVar(&preserveConfig, "preserve-config", false, "keep the stack's configuration file")
	cmd.Flags().BoolVar(&backups, "remove-backups", false, "remove the backups of the stack too")
	return cmd
}

func removeStack(ctx context.Context, open *session.Opener, name string, yes, preserveConfig bool, removal backend.RemoveOptions) error {
	s, err := open.State(ctx, name)
	if err != nil {
		return err
	}
	if !yes {
		if !open.Terminal.Interactive() {
			return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := terminal.ConfirmByName(ctx, open.Terminal, fmt.Sprintf("This will permanently remove the '%s' stack!", s.Name()), s.Name()); err != nil {
			return err
		}
	}
	if err := removeWithSettings(ctx, s, preserveConfig, removal); err != nil {
		return err
	}
	fmt.Fprintf(open.Terminal.Out, "Stack '%s' has been removed!\n", s.Name())
	return nil
}
