package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newCancelCommand(c *cli) *cobra.Command {
	var stack string
	var f cancelFlags
	cmd := &cobra.Command{
		Use:   "cancel [stack]",
		Short: "Remove the locks of a stack",
		Long: "Remove the lock files of a stack, whoever has them. Use it when a process that held the lock has died. It is refused\n" +
			"when the process certainly runs, on this machine. One that runs elsewhere is not stopped: when it notices that it has lost\n" +
			"the lock it starts no further operations and does not write over what others have written.\n\n" +
			"If a rename of the stack or a move of resources was cut off, the locks that it had of both stacks are removed.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				stack = args[0]
			}
			return c.cancel(cmd.Context(), stack, f)
		},
	}
	cmd.Flags().StringVarP(&stack, "stack", "s", "", "the stack; the selected one if not given")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, "also remove the lock of a process that runs on this machine")
	cmd.Flags().BoolVarP(&f.json, "json", "j", false, "write what was removed as JSON")
	return cmd
}

type cancelFlags struct{ yes, force, json bool }

// cancelledLock is a lock that was removed, in JSON.
type cancelledLock struct {
	File     string    `json:"file"`
	PID      int       `json:"pid,omitempty"`
	Username string    `json:"username,omitempty"`
	Hostname string    `json:"hostname,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

func (c *cli) cancel(ctx context.Context, name string, f cancelFlags) error {
	s, err := c.openState(ctx, name)
	if err != nil {
		return err
	}
	locks, err := s.stack.Locks(ctx)
	if err != nil {
		return err
	}
	removed := []cancelledLock{}
	for _, l := range locks {
		if l.Life == sluice.LockAlive && !f.force {
			return fmt.Errorf("the process that has the lock of stack '%s' is running on this machine (pid %d): end it, with Ctrl-C or SIGTERM, "+
				"and it gives the lock back; or remove the lock all the same with --force", s.name(), l.Owner.PID)
		}
		removed = append(removed, cancelledLock{l.Path, l.Owner.PID, l.Owner.Username, l.Owner.Hostname, l.Owner.Timestamp})
	}
	if !f.yes {
		if !c.Interactive() {
			return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := terminal.ConfirmByName(c.Terminal, fmt.Sprintf("This will remove the locks of the stack '%s'!", s.name()), s.name()); err != nil {
			return err
		}
	}
	n, err := s.stack.BreakLocks(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return format.JSON(c.Out, removed)
	}
	_, err = fmt.Fprintf(c.Out, "The locks of stack '%s' have been removed (%d).\n", s.name(), n)
	return err
}
