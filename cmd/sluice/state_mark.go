package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/state"
)

// marking describes a command that sets or clears a mark of live resources.
type marking struct {
	verb, done string // "protect", "protected"
	all        string // the effect of --all
	note       string // in the confirmation
	apply      func(*state.Snapshot, []*state.Resource) (*state.Snapshot, []*state.Resource)
}

func newStateProtectCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "protect", done: "protected", all: "protect all resources",
		note: "The next update of a program that does not protect them itself takes the protection away again.\n",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetProtect(s, rs, true)
		},
	}
	return m.command(open, "Protect resources from being deleted",
		"Protect resources from being deleted or replaced. The next update sets what the program says again, so a resource\n"+
			"that is to stay protected needs the option `protect` in the program too.")
}

func newStateUnprotectCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "unprotect", done: "unprotected", all: "unprotect all resources",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetProtect(s, rs, false)
		},
	}
	return m.command(open, "Allow protected resources to be deleted",
		"Take the protection of resources away, so that they can be deleted or replaced.")
}

func newStateTaintCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "taint", done: "tainted", all: "taint all resources",
		note: "The next update replaces them.\n",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetTaint(s, rs, true)
		},
	}
	return m.command(open, "Mark resources for replacement by the next update",
		"Mark resources for replacement: the next update replaces them, although nothing else has changed.")
}

func newStateUntaintCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "untaint", done: "untainted", all: "untaint all resources",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetTaint(s, rs, false)
		},
	}
	return m.command(open, "Remove the mark for replacement", "Take back the mark that `sluice state taint` has set.")
}

func newStateRetainCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "retain", done: "marked to be retained", all: "retain the objects of all resources",
		note: "The next update of a program that declares them sets what it says again.\n",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetRetain(s, rs, true)
		},
	}
	return m.command(open, "Keep the objects of resources that are removed",
		"Mark resources so that their objects stay when the resources are deleted: the state forgets them, and in the cloud nothing\n"+
			"happens. Then remove them from the program, or destroy the stack. The next update of a program that still declares them\n"+
			"sets what it says again (option `retainOnDelete`).")
}

func newStateUnretainCommand(open *session.Opener) *cobra.Command {
	m := marking{
		verb: "unretain", done: "no longer marked to be retained", all: "retain no objects",
		apply: func(s *state.Snapshot, rs []*state.Resource) (*state.Snapshot, []*state.Resource) {
			return state.SetRetain(s, rs, false)
		},
	}
	return m.command(open, "Remove the mark that keeps the objects of removed resources", "Take back the mark that `sluice state retain` has set.")
}

func (m marking) command(open *session.Opener, short, long string) *cobra.Command {
	var f stateedit.Flags
	var all bool
	cmd := &cobra.Command{
		Use:     m.verb + " [urn...]",
		Short:   short,
		Long:    long,
		Example: "  sluice state " + m.verb + " 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs'",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := stateedit.CheckTargets(open.Terminal, args, all); err != nil {
				return err
			}
			return stateedit.Run(cmd.Context(), open, &f, false, func(ctx context.Context, e *stateedit.Edit) error {
				return mark(ctx, e, m, args, all)
			})
		},
	}
	f.Add(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, m.all)
	return cmd
}

func mark(ctx context.Context, e *stateedit.Edit, m marking, args []string, all bool) error {
	targets, err := stateedit.Targets(ctx, e, args, all, m.verb)
	if err != nil {
		return err
	}
	now, changed := m.apply(e.Snapshot, targets)
	if len(changed) == 0 {
		return stateedit.WriteReport(e, fmt.Sprintf("There is nothing to %s: the state of %s is unchanged.", m.verb, e.Name), nil)
	}
	if err := e.Save(ctx, now, stateedit.List("This is to "+m.verb+":", changed)+m.note); err != nil {
		return err
	}
	return stateedit.WriteReport(e, fmt.Sprintf("%s %s in the state of %s:", count(len(changed), all), m.done, e.Name), changed)
}

// count returns how many resources were marked. Scripts look for "All resources protected".
func count(n int, all bool) string {
	if all {
		return "All resources"
	}
	return format.Resources(n)
}
