package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStateRenameCommand(c *cli) *cobra.Command {
	var f stateFlags
	cmd := &cobra.Command{
		Use:   "rename [urn] [new-name]",
		Short: "Give a resource another name",
		Long: "Give a resource, or a provider, another name in the state. Everything that refers to it follows. Change the name\n" +
			"in the program too: the next update then finds the resource under its new name and leaves it as it is.",
		Example: "  sluice state rename 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs' access-logs",
		Args:    rangeArgs(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 && !c.Interactive() {
				return exit.Usagef("name the resource by its URN, and its new name; without a terminal nobody can be asked")
			}
			return c.editState(cmd.Context(), &f, false, func(ctx context.Context, e *stateEdit) error {
				return e.rename(ctx, args)
			})
		},
	}
	f.define(cmd)
	return cmd
}

func (e *stateEdit) rename(ctx context.Context, args []string) error {
	r, name, err := e.renaming(args)
	if err != nil {
		return err
	}
	now, err := sluice.RenameResource(e.snapshot, r, name)
	if err != nil {
		return err
	}
	if now == e.snapshot {
		return e.report(fmt.Sprintf("%s has that name already: the state of %s is unchanged.", format.Printable(string(r.URN)), e.name()), nil)
	}
	renamed := now.Resources[slices.Index(e.snapshot.Resources, r)]
	lines := fmt.Sprintf("  %s\n  -> %s\n", format.Printable(string(r.URN)), format.Printable(string(renamed.URN)))
	if err := e.save(ctx, now, "This is to rename:\n"+lines); err != nil {
		return err
	}
	if e.flags.asJSON {
		return format.JSON(e.cli.Out, stateReport{Stack: e.name(), Changed: []changedInJSON{
			{URN: string(r.URN), ID: r.ID, NewURN: string(renamed.URN)},
		}})
	}
	_, err = fmt.Fprintf(e.cli.Out, "Renamed in the state of %s:\n%s", e.name(), lines)
	return err
}

// renaming is what the arguments say, and what somebody answers.
func (e *stateEdit) renaming(args []string) (*sluice.Resource, string, error) {
	var r *sluice.Resource
	var err error
	if len(args) > 0 {
		r, err = sluice.FindResource(e.snapshot, args[0])
	} else {
		r, err = e.cli.chooseResource("Which resource do you want to rename?", e.snapshot.Resources)
	}
	if err != nil {
		return nil, "", err
	}
	if len(args) == 2 {
		return r, args[1], nil
	}
	name, err := e.cli.Ask(fmt.Sprintf("What is the new name of %s? ", format.Printable(r.URN.Name())))
	return r, name, err
}
