package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newStackRemoveCommand(c *cli, stack *string) *cobra.Command {
	var force, yes, preserveConfig, backups bool
	cmd := &cobra.Command{
		Use:     "rm [name]",
		Aliases: []string{"remove"},
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
			return c.removeStack(cmd.Context(), name, yes, preserveConfig, sluice.StackRemoval{Force: force, Backups: backups})
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "remove the stack although it has resources, which are then forgotten")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&preserveConfig, "preserve-config", false, "keep the stack's configuration file")
	cmd.Flags().BoolVar(&backups, "remove-backups", false, "remove the backups of the stack too")
	return cmd
}

func (c *cli) removeStack(ctx context.Context, name string, yes, preserveConfig bool, removal sluice.StackRemoval) error {
	s, err := c.openState(ctx, name)
	if err != nil {
		return err
	}
	if !yes {
		if !c.Interactive() {
			return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := terminal.ConfirmByName(c.Terminal, fmt.Sprintf("This will permanently remove the '%s' stack!", s.name()), s.name()); err != nil {
			return err
		}
	}
	if err := s.remove(ctx, preserveConfig, removal); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Stack '%s' has been removed!\n", s.name())
	return nil
}

// remove removes the stack of the session, its configuration file and its selection.
func (s *session) remove(ctx context.Context, preserveConfig bool, removal sluice.StackRemoval) error {
	snapshot, loadErr := s.stack.LoadSealed(ctx)
	if err := s.backend.Remove(ctx, s.ref, removal); err != nil {
		return err
	}
	if loadErr == nil && snapshot != nil {
		s.cli.warnOfForgotten(snapshot.Pending)
	}
	if !preserveConfig && s.owns(s.ref) {
		if err := os.Remove(s.project.StackFilePath(s.ref.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the stack's configuration: %w", err)
		}
	}
	if err := s.notes(ctx).Remove(previewNote, operationNote); err != nil {
		s.cli.Warn("what `sluice why` knew of the stack: %v", err)
	}
	return s.forget(s.ref)
}

// warnOfForgotten names the operations that only the removed state knew of: no resource is recorded for them, and so a stack
// that has nothing else counts as empty.
func (c *cli) warnOfForgotten(pending []sluice.PendingOperation) {
	if len(pending) == 0 {
		return
	}
	lines := make([]string, len(pending))
	for i, op := range pending {
		lines[i] = fmt.Sprintf("%s %s", op.Type, format.Printable(string(op.Resource.URN)))
	}
	c.Warn("operations that were interrupted are forgotten with the stack; look in the cloud for what they may have left:\n    %s",
		strings.Join(lines, "\n    "))
}
