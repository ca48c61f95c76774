package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStateDeleteCommand(c *cli) *cobra.Command {
	var f stateFlags
	var o sluice.StateDeletion
	var all bool
	cmd := &cobra.Command{
		Use:     "delete [urn...]",
		Aliases: []string{"remove", "rm"},
		Short:   "Forget resources without deleting them in the cloud",
		Long: "Delete resources from the state of a stack. In the cloud nothing is deleted: what the resources stand for stays\n" +
			"and is not managed any more.\n\n" +
			"Resources that others depend on or are children of are refused, unless --target-dependents takes these along;\n" +
			"protected ones are refused, unless --force is given.",
		Example: "  sluice state delete 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs'",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkTargets(args, all); err != nil {
				return err
			}
			return c.editState(cmd.Context(), &f, false, func(ctx context.Context, e *stateEdit) error {
				return e.delete(ctx, args, all, o)
			})
		},
	}
	f.define(cmd)
	cmd.Flags().BoolVar(&o.Protected, "force", false, "delete protected resources too")
	cmd.Flags().BoolVar(&o.Dependents, "target-dependents", false, "delete everything that depends on the resources too")
	cmd.Flags().BoolVar(&all, "all", false, "delete all resources")
	return cmd
}

func (e *stateEdit) delete(ctx context.Context, args []string, all bool, o sluice.StateDeletion) error {
	targets, err := e.entries(args, all)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return e.report("The state has no resources.", nil)
	}
	now, removed, err := sluice.DeleteFromState(e.snapshot, targets, o)
	if err != nil {
		return err
	}
	if o.Protected && !e.flags.asJSON {
		for _, r := range removed {
			if r.Protect {
				e.cli.Warn("%s is protected and is deleted from the state because of --force", r.URN)
			}
		}
	}
	if err := e.save(ctx, now, listed("This forgets, without deleting in the cloud:", removed)); err != nil {
		return err
	}
	return e.report(fmt.Sprintf("Deleted %s from the state of %s; in the cloud nothing was deleted:", format.Resources(len(removed)), e.name()), removed)
}

// entries are what the arguments name, old copies included, or what somebody chooses.
func (e *stateEdit) entries(args []string, all bool) ([]*sluice.Resource, error) {
	if all {
		return e.snapshot.Resources, nil
	}
	if len(args) == 0 {
		r, err := e.cli.chooseResource("Which resource do you want to delete from the state?", e.snapshot.Resources)
		return []*sluice.Resource{r}, err
	}
	var out []*sluice.Resource
	for _, text := range args {
		r, err := sluice.FindResource(e.snapshot, text)
		var copies *sluice.ResourceCopiesError
		if errors.As(err, &copies) {
			if !e.cli.Interactive() || e.flags.asJSON {
				return nil, fmt.Errorf("%w\nat a terminal you are asked which one is meant", err)
			}
			r, err = e.cli.chooseResource("Which copy do you want to delete from the state?", copies.Copies)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
