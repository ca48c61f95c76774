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
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
)

func newCancelCommand(open *session.Opener) *cobra.Command {
	var stack string
	var f cancelFlags
	cmd := &cobra.Command{
		Use:   "cancel [stack]",
		Short: "Remove the locks of a stack",
		Long: "Remove the lock files of a stack, whoever holds them. Use it if the process that held the lock has ended without\n" +
			"releasing it. The command is refused if that process certainly runs on this machine, or has an open session on the\n" +
			"PostgreSQL server. --force removes the lock anyway, and ends that session.\n\n" +
			"The process itself is not stopped. When it notices that it has lost the lock, it starts no further operations and does\n" +
			"not overwrite what others have written. The Automation API cannot pass --force, so its calls are never refused.\n\n" +
			"At Pulumi's service, the update is ended, whoever runs it. That process notices this with its next call, or within\n" +
			"75 seconds.\n\n" +
			"If a rename of the stack or a move of resources was interrupted, the command removes the locks on both stacks.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				stack = args[0]
			}
			// The Automation API has no way to force it, and its callers want a running update to stop.
			f.force = f.force || open.Terminal.EnvIsTrue("PULUMI_AUTOMATION_API")
			return cancel(cmd.Context(), open, stack, f)
		},
	}
	flags.AddStack(cmd.Flags(), &stack)
	flags.AddYes(cmd.Flags(), &f.yes, "do not ask for confirmation")
	cmd.Flags().BoolVarP(&f.force, "force", "f", false, "also remove the lock of a process that runs on this machine, and end its session on the PostgreSQL server")
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
	// Session is the session on the server that was ended with the lock, and Role its role there.
	Session string `json:"session,omitempty"`
	Role    string `json:"role,omitempty"`
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
		if err := mayBreak(l, name); err != nil && !f.force {
			return err
		}
		c := cancelledLock{File: l.Path, PID: l.Owner.PID, Username: l.Owner.Username, Hostname: l.Owner.Hostname, Since: l.Owner.Timestamp}
		if l.Session != nil {
			c.Session, c.Role = l.Session.ID, l.Session.Account
		}
		removed = append(removed, c)
	}
	if !f.yes && !t.Interactive() {
		return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
	}
	if len(held) == 0 && !f.json {
		_, err := fmt.Fprintf(t.Out, "Stack '%s' is not locked.\n", name)
		return err
	}
	if !f.yes {
		if err := terminal.ConfirmByName(ctx, t, fmt.Sprintf("This will remove the locks of the stack '%s'!", name), name); err != nil {
			return err
		}
	}
	n, err := locks.BreakLocks(ctx, held)
	if err != nil {
		return err
	}
	if f.json {
		return format.JSON(t.Data(), removed)
	}
	for _, c := range removed {
		if c.Session != "" {
			fmt.Fprintf(t.Out, "Ended the session of %s@%s (pid %d) on the server: session %s of the role %s.\n", printable.Line(c.Username), printable.Line(c.Hostname), c.PID, printable.Line(c.Session), printable.Line(c.Role))
		}
	}
	_, err = fmt.Fprintf(t.Out, "Removed %s of stack '%s'.\n", format.Locks(n), name)
	return err
}

// mayBreak returns an error if the holder of a lock certainly still has it.
func mayBreak(l lock.Held, name string) error {
	end := "stop it with Ctrl-C or SIGTERM to release the lock, or remove the lock with --force"
	switch {
	case l.Life == lock.Alive && !l.HasEnded():
		return fmt.Errorf("stack '%s' is locked by a process that is running on this machine (pid %d): %s", name, l.Owner.PID, end)
	case l.Session != nil && l.Unknown:
		return fmt.Errorf("stack '%s' is locked by a session of another program on the server: session %s of the role %s",
			name, l.Session.ID, l.Session.Account)
	case l.Session != nil:
		return fmt.Errorf("stack '%s' is locked by a process that has an open session on the server (%s@%s, pid %d): %s, which also ends the session",
			name, l.Owner.Username, l.Owner.Hostname, l.Owner.PID, end)
	}
	return nil
}
