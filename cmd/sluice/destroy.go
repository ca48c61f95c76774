package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// destroyFlags are the flags of destroy.
type destroyFlags struct {
	flags.Operation
	excludeProtected, remove, force bool
}

func newDestroyCommand(open *session.Opener) *cobra.Command {
	f := &destroyFlags{}
	cmd := &cobra.Command{
		Use:     "destroy",
		Aliases: []string{"down", "dn"},
		Short:   "Delete every resource of the stack",
		Long: "Delete every resource of the stack. The stack itself and its configuration stay, unless --remove is given: see\n" +
			"`stack rm`.\n\n" +
			"With --force, the command forgets what cannot be deleted: it lists the failed resources, asks twice, writes them to a\n" +
			"file forgotten-<stack>-<time>.json, removes them from the state, and destroys the rest. The objects may still exist.\n" +
			"Protected resources are refused as without --force. With --yes it does not ask.\n\n" +
			"The command first shows a preview and asks for confirmation, unless --yes is given. The program does not run, unless\n" +
			"--run-program is given: then the resources are deleted with the provider configuration of the program.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.CheckProgram(); err != nil {
				return err
			}
			return destroy(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddTiming(p)
	f.Reports.Add(p)
	f.Targeting.Add(p)
	f.Program.AddRun(p, "run the program, and delete with the provider configuration of the program; delete hooks need this")
	f.Program.AddRefresh(p)
	f.AddPolicies(p)
	f.AddConfirmation(p)
	f.Confirmation.AddPreviewOnly(p, "only show what would be deleted")
	excludes(cmd, "yes", "preview-only")
	excludes(cmd, "skip-preview", "preview-only")
	p.BoolVar(&f.excludeProtected, "exclude-protected", false, "do not touch protected resources and what they need")
	p.BoolVar(&f.remove, "remove", false, "remove the stack and its configuration file when everything is deleted")
	p.BoolVar(&f.force, "force", false, "forget the resources that cannot be deleted, after two confirmations, and write them to a file; implies --continue-on-error")
	excludes(cmd, "exclude-protected", "ignore-protect")
	excludes(cmd, "force", "preview-only")
	return cmd
}

// destroy runs the command destroy. The steps before and after the operation exist only in this command.
func destroy(ctx context.Context, open *session.Opener, f *destroyFlags) error {
	if f.excludeProtected && len(f.Targeting.Targets) > 0 {
		return exit.Usagef("you cannot specify --target and --exclude-protected")
	}
	f.Run.ContinueOnError = f.Run.ContinueOnError || f.force
	s, err := operate.OpenAny(ctx, open, &f.Operation)
	if err != nil {
		return err
	}
	// tell writes a line unless the output is JSON.
	tell := func(format string, args ...any) {
		if !f.Display.JSON() {
			fmt.Fprintf(s.Session.Terminal.Out, format+"\n", args...)
		}
	}
	protected := protectedResources{}
	if f.excludeProtected {
		if protected, err = protectedIn(ctx, s); err != nil {
			return err
		}
		if len(protected.stay) == protected.all && protected.all > 0 {
			tell("There were no unprotected resources to destroy. %s", protected.text())
			return nil
		}
		f.Targeting.Excludes = append(f.Targeting.Excludes, protected.stay...)
	}
	excluded := len(f.Targeting.Excludes)
	job, err := operate.Prepare(ctx, s, operate.Destroy(), &f.Operation)
	if err != nil {
		return err
	}
	err = operate.Run(ctx, job)
	if err != nil && f.force {
		err = destroyByForce(ctx, open, s, f, err)
	}
	if err != nil || f.Confirmation.PreviewOnly {
		return err
	}
	switch {
	case len(f.Targeting.Targets) > 0:
	case len(protected.stay) > 0 && len(f.Targeting.Excludes) > excluded: // the user has excluded others at the question
		tell("%s", protected.text())
	case len(protected.stay) > 0:
		tell("All unprotected resources were destroyed. %s", protected.text())
	case f.remove:
		// This refuses to remove a stack in which an excluded resource is left.
		if err := removeWithSettings(ctx, s, false, backend.RemoveOptions{}); err != nil {
			return err
		}
		tell("The resources in the stack have been deleted, and the history and configuration removed.")
	}
	return nil
}

// protectedResources are the resources that a destroy keeps because of protection.
type protectedResources struct {
	stay      []string // the URNs of the protected ones and of those that these need
	protected int      // the number of the protected ones
	needed    int      // the number of the others, without what sluice makes itself
	all       int      // the number of all resources of the stack
}

// protectedIn returns the protected resources of a stack, and those that they need.
func protectedIn(ctx context.Context, s *session.Stack) (out protectedResources, err error) {
	manager, err := session.SecretsManager(ctx, s)
	if err != nil {
		return out, err
	}
	snapshot, err := s.State.WithSecrets(manager).Load(ctx)
	if err != nil || snapshot == nil {
		return out, err
	}
	isProtected := map[urn.URN]bool{}
	for _, r := range snapshot.Resources {
		isProtected[r.URN] = isProtected[r.URN] || r.Protect
	}
	for _, u := range sluice.ProtectedURNs(snapshot) {
		out.stay = append(out.stay, string(u))
		switch {
		case isProtected[u]:
			out.protected++
		case !u.IsRootStack() && !u.IsDefaultProvider():
			out.needed++
		}
	}
	out.all = len(snapshot.Resources)
	return out, nil
}

// text says how many protected resources a stack still has, and how many others are left because of them.
func (p protectedResources) text() string {
	text := "There is still 1 protected resource associated with this stack"
	if p.protected != 1 {
		text = fmt.Sprintf("There are still %d protected resources associated with this stack", p.protected)
	}
	switch p.needed {
	case 0:
		return text + "."
	case 1:
		return text + ", and 1 other that is needed."
	}
	return text + fmt.Sprintf(", and %d others that are needed.", p.needed)
}
