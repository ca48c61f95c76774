package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
)

func newCancelCommand(open *session.Opener) *cobra.Command {
	var stack string
	var f cancelFlags
	cmd := &cobra.Command{
		Use:   "cancel [stack]",
		Short: "Remove the locks of a stack",
		Long: "Remove the lock files of a stack, whoever has them. Use it when a process that held the lock has died. It is refused\n" +
			"when the process certainly runs, on this machine. One that runs elsewhere is not stopped: when it notices that it has lost\n" +
			"the lock it starts no further operations and does not write over what others have written.\n\n" +
			"If a rename of the stack or a move of resources was interrupted, the locks that it had of both stacks are removed.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				stack = args[0]
			}
			return cancel(cmd.Context(), open, stack, f)
		},
	}
	flags.AddStack(cmd.Flags(), &stack)
	flags.AddYes(cmd.Flags(), &f.yes, "do not ask for confirmation")
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, "also remove the lock of a process that runs on this machine")
	flags.AddJSON(cmd.Flags(), &f.json, "write what was removed as JSON")
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

func cancel(ctx context.Context, open *session.Opener, name string, f cancelFlags) error {
	s, err := open.State(ctx, name)
	if err != nil {
		return err
	}
	return breakLocks(ctx, open.Terminal, s.State, s.Name(), f)
}

// breakLocks removes the locks of the stack with that name.
func breakLocks(ctx context.Context, t *terminal.Terminal, locks backend.Locks, name string, f cancelFlags) error {
	held, err := locks.Locks(ctx)
	if err != nil {
		return err
	}
	removed := []cancelledLock{}
	for _, l := range held {
		if l.Life == lock.Alive && !f.force {
			return fmt.Errorf("the process that has the lock of stack '%s' is running on this machine (pid %d): end it, with Ctrl-C or SIGTERM, "+
				"and it gives the lock back; or remove the lock all the same with --force", name, l.Owner.PID)
		}
		removed = append(removed, cancelledLock{l.Path, l.Owner.PID, l.Owner.Username, l.Owner.Hostname, l.Owner.Timestamp})
	}
	if !f.yes {
		if !t.Interactive() {
			return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
		}
		if err := terminal.ConfirmByName(t, fmt.Sprintf("This will remove the locks of the stack '%s'!", name), name); err != nil {
			return err
		}
	}
	n, err := locks.BreakLocks(ctx, held)
	if err != nil {
		return err
	}
	if f.json {
		return format.JSON(t.Out, removed)
	}
	_, err = fmt.Fprintf(t.Out, "The locks of stack '%s' have been removed (%d).\n", name, n)
	return err
}
