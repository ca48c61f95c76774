package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
)

func newStateDeleteCommand(open *session.Opener) *cobra.Command {
	var f stateedit.Flags
	var o state.DeleteOptions
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
			if err := stateedit.CheckTargets(open.Terminal, args, all); err != nil {
				return err
			}
			return stateedit.Run(cmd.Context(), open, &f, false, func(ctx context.Context, e *stateedit.Edit) error {
				return deleteFromState(ctx, e, args, all, o)
			})
		},
	}
	f.Add(cmd.Flags())
	cmd.Flags().BoolVar(&o.Protected, "force", false, "delete protected resources too")
	cmd.Flags().BoolVar(&o.Dependents, "target-dependents", false, "delete everything that depends on the resources too")
	cmd.Flags().BoolVar(&all, "all", false, "delete all resources")
	return cmd
}

func deleteFromState(ctx context.Context, e *stateedit.Edit, args []string, all bool, o state.DeleteOptions) error {
	targets, err := entries(ctx, e, args, all)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return stateedit.WriteReport(e, "The state has no resources.", nil)
	}
	now, removed, err := state.Delete(e.Snapshot, targets, o)
	if err != nil {
		return err
	}
	if o.Protected && !e.Flags.JSON {
		for _, r := range removed {
			if r.Protect {
				e.Terminal.Warn("%s is protected and is deleted from the state because of --force", r.URN)
			}
		}
	}
	if err := e.Save(ctx, now, stateedit.List("This forgets, without deleting in the cloud:", removed)); err != nil {
		return err
	}
	departed := why.Departures{}
	for _, r := range removed {
		departed[r.URN] = why.Departure{By: why.DepartedByDelete}
	}
	e.Depart(ctx, departed)
	return stateedit.WriteReport(e, fmt.Sprintf("Deleted %s from the state of %s; in the cloud nothing was deleted:", format.Resources(len(removed)), e.Name), removed)
}

// entries returns the states that the arguments name, old copies included, or the one that the user chooses.
func entries(ctx context.Context, e *stateedit.Edit, args []string, all bool) ([]*state.Resource, error) {
	if all {
		return e.Snapshot.Resources, nil
	}
	if len(args) == 0 {
		r, err := stateedit.Choose(ctx, e.Terminal, "Which resource do you want to delete from the state?", e.Snapshot.Resources)
		return []*state.Resource{r}, err
	}
	var out []*state.Resource
	for _, text := range args {
		r, err := state.FindOne(e.Snapshot, text)
		var copies *state.CopiesError
		if errors.As(err, &copies) {
			if !e.Terminal.Interactive() || e.Flags.JSON {
				return nil, fmt.Errorf("%w\non a terminal, the command asks which one to use", err)
			}
			r, err = stateedit.Choose(ctx, e.Terminal, "Which copy do you want to delete from the state?", copies.Copies)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
