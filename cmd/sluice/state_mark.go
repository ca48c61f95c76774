package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// marking is a command that sets or clears a mark of live resources.
type marking struct {
	verb, done string // "protect", "Protected"
	all        string // what --all does
	note       string // for who is asked
	apply      func(*sluice.Snapshot, []*sluice.Resource) (*sluice.Snapshot, []*sluice.Resource)
}

func newStateProtectCommand(c *cli) *cobra.Command {
	m := marking{
		verb: "protect", done: "Protected", all: "protect all resources",
		note: "The next update of a program that does not protect them itself takes the protection away again.\n",
		apply: func(s *sluice.Snapshot, rs []*sluice.Resource) (*sluice.Snapshot, []*sluice.Resource) {
			return sluice.SetProtect(s, rs, true)
		},
	}
	return m.command(c, "Protect resources from being deleted",
		"Protect resources from being deleted or replaced. The next update sets what the program says again, so a resource\n"+
			"that is to stay protected needs the option `protect` in the program too.")
}

func newStateUnprotectCommand(c *cli) *cobra.Command {
	m := marking{
		verb: "unprotect", done: "Unprotected", all: "unprotect all resources",
		apply: func(s *sluice.Snapshot, rs []*sluice.Resource) (*sluice.Snapshot, []*sluice.Resource) {
			return sluice.SetProtect(s, rs, false)
		},
	}
	return m.command(c, "Allow protected resources to be deleted",
		"Take the protection of resources away, so that they can be deleted or replaced.")
}

func newStateTaintCommand(c *cli) *cobra.Command {
	m := marking{
		verb: "taint", done: "Tainted", all: "taint all resources",
		note: "The next update replaces them.\n",
		apply: func(s *sluice.Snapshot, rs []*sluice.Resource) (*sluice.Snapshot, []*sluice.Resource) {
			return sluice.SetTaint(s, rs, true)
		},
	}
	return m.command(c, "Mark resources for replacement by the next update",
		"Mark resources for replacement: the next update replaces them, although nothing else has changed.")
}

func newStateUntaintCommand(c *cli) *cobra.Command {
	m := marking{
		verb: "untaint", done: "Untainted", all: "untaint all resources",
		apply: func(s *sluice.Snapshot, rs []*sluice.Resource) (*sluice.Snapshot, []*sluice.Resource) {
			return sluice.SetTaint(s, rs, false)
		},
	}
	return m.command(c, "Take back the mark for replacement", "Take back the mark that `sluice state taint` has set.")
}

func (m marking) command(c *cli, short, long string) *cobra.Command {
	var f stateFlags
	var all bool
	cmd := &cobra.Command{
		Use:     m.verb + " [urn...]",
		Short:   short,
		Long:    long,
		Example: "  sluice state " + m.verb + " 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs'",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkTargets(args, all); err != nil {
				return err
			}
			return c.editState(cmd.Context(), &f, false, func(ctx context.Context, e *stateEdit) error {
				return e.mark(ctx, m, args, all)
			})
		},
	}
	f.define(cmd)
	cmd.Flags().BoolVar(&all, "all", false, m.all)
	return cmd
}

func (e *stateEdit) mark(ctx context.Context, m marking, args []string, all bool) error {
	targets, err := e.targets(args, all, m.verb)
	if err != nil {
		return err
	}
	now, changed := m.apply(e.snapshot, targets)
	if len(changed) == 0 {
		return e.report(fmt.Sprintf("There is nothing to %s: the state of %s is unchanged.", m.verb, e.name()), nil)
	}
	if err := e.save(ctx, now, listed("This is to "+m.verb+":", changed)+m.note); err != nil {
		return err
	}
	return e.report(fmt.Sprintf("%s %s in the state of %s:", m.done, format.Resources(len(changed)), e.name()), changed)
}
