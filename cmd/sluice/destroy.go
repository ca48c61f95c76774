package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
)

// destroyFlags are the flags of destroy.
type destroyFlags struct {
	flags.Operation
	excludeProtected, remove bool
}

func newDestroyCommand(c *cli) *cobra.Command {
	f := &destroyFlags{}
	cmd := &cobra.Command{
		Use:     "destroy",
		Aliases: []string{"down", "dn"},
		Short:   "Delete every resource of the stack",
		Long: "Delete every resource of the stack. The stack itself and its configuration stay, unless --remove is\n" +
			"given: see `stack rm`.\n\n" +
			"The deletions are previewed first and have to be confirmed, unless --yes is given. The program does not run,\n" +
			"unless --run-program is given: then the resources are deleted with the configuration that it gives its providers.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.Policies.CheckProgram(f.Program.Run); err != nil {
				return err
			}
			return c.destroy(cmd.Context(), f)
		},
	}
	p := cmd.Flags()
	f.Add(p)
	f.Targeting.Add(p)
	f.Program.AddRun(p, "run the program, and delete with the configuration that it gives its providers; delete hooks need this")
	f.Program.AddRefresh(p)
	f.AddPolicies(p)
	f.AddConfirmation(p)
	f.Confirmation.AddPreviewOnly(p, "only show what would be deleted")
	p.BoolVar(&f.excludeProtected, "exclude-protected", false, "do not touch protected resources and what they need")
	p.BoolVar(&f.remove, "remove", false, "remove the stack and its configuration file when everything is deleted")
	cmd.MarkFlagsMutuallyExclusive("exclude-protected", "ignore-protect")
	return cmd
}

// destroy runs the command: what is special to it comes before and after the operation.
func (c *cli) destroy(ctx context.Context, f *destroyFlags) error {
	if f.excludeProtected && len(f.Targeting.Targets) > 0 {
		return exit.Usagef("you cannot specify --target and --exclude-protected")
	}
	if err := c.checkOperationFlags(&f.Operation); err != nil {
		return err
	}
	s, err := c.openStack(ctx, f.Stack.Name, f.Stack.ConfigFile)
	if err != nil {
		return err
	}
	protected := 0
	if f.excludeProtected {
		left, all, err := s.protected(ctx)
		if err != nil {
			return err
		}
		if protected = len(left); protected == all && protected > 0 {
			c.tell(f, "There were no unprotected resources to destroy. There are still %d protected resources associated with this stack.", protected)
			return nil
		}
		f.Targeting.Excludes = append(f.Targeting.Excludes, left...)
	}
	if err := s.operate(ctx, destroyKind, &f.Operation); err != nil || f.Confirmation.PreviewOnly {
		return err
	}
	switch {
	case protected > 0:
		c.tell(f, "All unprotected resources were destroyed. There are still %d protected resources associated with this stack.", protected)
	case len(f.Targeting.Targets) > 0:
	case f.remove:
		return s.removeDestroyed(ctx, f)
	}
	return nil
}

// tell writes a line for people.
func (c *cli) tell(f *destroyFlags, format string, args ...any) {
	if !f.Display.JSON {
		fmt.Fprintf(c.Out, format+"\n", args...)
	}
}

// protected returns the URNs of what a destroy must leave, and how many resources there are.
func (s *session) protected(ctx context.Context) (urns []string, all int, err error) {
	manager, err := s.secretsManager(ctx)
	if err != nil {
		return nil, 0, err
	}
	snapshot, err := s.stack.WithSecrets(manager).Load(ctx)
	if err != nil || snapshot == nil {
		return nil, 0, err
	}
	for _, u := range sluice.ProtectedURNs(snapshot) {
		urns = append(urns, string(u))
	}
	return urns, len(snapshot.Resources), nil
}

// removeDestroyed removes a stack whose resources have been deleted, with its configuration file. If something is left after
// all, because it is excluded, the stack is refused and stays.
func (s *session) removeDestroyed(ctx context.Context, f *destroyFlags) error {
	if err := s.remove(ctx, false, sluice.StackRemoval{}); err != nil {
		return err
	}
	s.cli.tell(f, "The resources in the stack have been deleted, and the history and configuration removed.")
	return nil
}
