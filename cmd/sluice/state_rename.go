package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
)

func newStateRenameCommand(open *session.Opener) *cobra.Command {
	var f stateedit.Flags
	cmd := &cobra.Command{
		Use:   "rename [urn] [new-name]",
		Short: "Give a resource another name",
		Long: "Give a resource, or a provider, another name in the state. Everything that refers to it follows. Change the name\n" +
			"in the program too: the next update then finds the resource under its new name and leaves it as it is.",
		Example: "  sluice state rename 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs' access-logs",
		Args:    rangeArgs(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 && !open.Terminal.Interactive() {
				return exit.Usagef("missing arguments: without a terminal, write the URN of the resource and its new name")
			}
			return stateedit.Run(cmd.Context(), open, &f, false, func(ctx context.Context, e *stateedit.Edit) error {
				return renameInState(ctx, e, args)
			})
		},
	}
	f.Add(cmd.Flags())
	return cmd
}

func renameInState(ctx context.Context, e *stateedit.Edit, args []string) error {
	r, name, err := renaming(ctx, e, args)
	if err != nil {
		return err
	}
	now, err := state.Rename(e.Snapshot, r, name)
	if err != nil {
		return err
	}
	if now == e.Snapshot {
		return stateedit.WriteReport(e, fmt.Sprintf("%s has that name already: the state of %s is unchanged.", format.Printable(string(r.URN)), e.Name), nil)
	}
	renamed := now.Resources[slices.Index(e.Snapshot.Resources, r)]
	lines := fmt.Sprintf("  %s\n  -> %s\n", format.Printable(string(r.URN)), format.Printable(string(renamed.URN)))
	if err := e.Save(ctx, now, "This is to rename:\n"+lines); err != nil {
		return err
	}
	renaming := why.Departure{By: why.DepartedByRename, From: r.URN, To: renamed.URN}
	e.Depart(ctx, why.Departures{r.URN: renaming, renamed.URN: renaming})
	if e.Flags.JSON {
		return format.JSON(e.Terminal.Data(), stateedit.Report{Stack: e.Name, Changed: []stateedit.Changed{
			{URN: string(r.URN), ID: r.ID, NewURN: string(renamed.URN)},
		}})
	}
	_, err = fmt.Fprintf(e.Terminal.Out, "Renamed in the state of %s:\n%s", e.Name, lines)
	return err
}

// renaming returns the resource and the new name from the arguments, or from the answers of the user.
func renaming(ctx context.Context, e *stateedit.Edit, args []string) (*state.Resource, string, error) {
	var r *state.Resource
	var err error
	if len(args) > 0 {
		r, err = state.FindOne(e.Snapshot, args[0])
	} else {
		r, err = stateedit.Choose(ctx, e.Terminal, "Which resource do you want to rename?", e.Snapshot.Resources)
	}
	if err != nil {
		return nil, "", err
	}
	if len(args) == 2 {
		return r, args[1], nil
	}
	name, err := e.Terminal.Ask(ctx, fmt.Sprintf("What is the new name of %s? ", format.Printable(r.URN.Name())))
	return r, name, err
}
