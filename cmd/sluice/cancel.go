package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newCancelCommand(c *cli) *cobra.Command {
	var stack string
	var yes bool
	cmd := &cobra.Command{
		Use:   "cancel [stack]",
		Short: "Remove the locks of a stack",
		Long: "Remove the lock files of a stack, whoever has them. Use it when a process that held the lock has died. A process\n" +
			"that still runs is not stopped, and two at once can damage the state.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				stack = args[0]
			}
			return c.cancel(cmd.Context(), stack, yes)
		},
	}
	cmd.Flags().StringVarP(&stack, "stack", "s", "", "the stack; the selected one if not given")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (c *cli) cancel(ctx context.Context, name string, yes bool) error {
	s, err := c.openProject(ctx)
	if err != nil {
		return err
	}
	if s.ref, err = s.choose(name); err != nil {
		return err
	}
	stack, err := s.backend.Open(ctx, s.ref)
	if err != nil {
		return err
	}
	if !yes {
		if !c.interactive() {
			return usageErrorf("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := c.confirmByName(fmt.Sprintf("This will remove the locks of the stack '%s'!", s.name()), s.name()); err != nil {
			return err
		}
	}
	n, err := stack.BreakLocks(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "The locks of stack '%s' have been removed (%d).\n", s.name(), n)
	return err
}
