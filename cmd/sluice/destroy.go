package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

func newDestroyCommand(c *cli) *cobra.Command {
	f := &operationFlags{}
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
			if len(f.policies.packs) > 0 && !f.runProgram {
				return exit.Usagef("--policy-pack needs --run-program: policies judge what the program declares")
			}
			return c.destroy(cmd.Context(), f)
		},
	}
	f.add(cmd)
	f.addTargets(cmd)
	f.addRunProgram(cmd, "run the program, and delete with the configuration that it gives its providers; delete hooks need this")
	f.policies.add(cmd)
	f.addConfirmation(cmd)
	f.addRefresh(cmd)
	cmd.Flags().BoolVar(&f.previewOnly, "preview-only", false, "only show what would be deleted")
	cmd.Flags().BoolVar(&f.excludeProtected, "exclude-protected", false, "do not touch protected resources and what they need")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "remove the stack and its configuration file when everything is deleted")
	cmd.MarkFlagsMutuallyExclusive("exclude-protected", "ignore-protect")
	return cmd
}

// destroy runs the command: what is special to it comes before and after the operation.
func (c *cli) destroy(ctx context.Context, f *operationFlags) error {
	if f.excludeProtected && len(f.targets) > 0 {
		return exit.Usagef("you cannot specify --target and --exclude-protected")
	}
	if err := c.checkOperationFlags(f); err != nil {
		return err
	}
	s, err := c.openStack(ctx, f.stack, f.configFile)
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
		f.excludes = append(f.excludes, left...)
	}
	if err := s.operate(ctx, destroyKind, f); err != nil || f.previewOnly {
		return err
	}
	switch {
	case protected > 0:
		c.tell(f, "All unprotected resources were destroyed. There are still %d protected resources associated with this stack.", protected)
	case len(f.targets) > 0:
	case f.remove:
		return s.removeDestroyed(ctx, f)
	}
	return nil
}

// tell writes a line for people.
func (c *cli) tell(f *operationFlags, format string, args ...any) {
	if !f.json {
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
func (s *session) removeDestroyed(ctx context.Context, f *operationFlags) error {
	if err := s.remove(ctx, false, sluice.StackRemoval{}); err != nil {
		return err
	}
	s.cli.tell(f, "The resources in the stack have been deleted, and the history and configuration removed.")
	return nil
}
