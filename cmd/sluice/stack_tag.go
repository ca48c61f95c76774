package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackTagCommand(open *session.Opener, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tag",
		Short: "List and change the tags of a stack",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the tags", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return listTags(cmd.Context(), open, *stack, asJSON) },
	}
	flags.AddJSON(list.Flags(), &asJSON, "write JSON")
	cmd.AddCommand(list,
		&cobra.Command{
			Use: "get <name>", Short: "Print a tag", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return getTag(cmd.Context(), open, *stack, args[0]) },
		},
		&cobra.Command{
			Use: "set <name> <value>", Short: "Give a tag a value", Args: exactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return editTags(cmd.Context(), open, *stack, func(tags map[string]string) { tags[args[0]] = args[1] })
			},
		},
		&cobra.Command{
			Use: "rm <name>", Aliases: []string{"remove", "delete"}, Short: "Remove a tag", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return editTags(cmd.Context(), open, *stack, func(tags map[string]string) { delete(tags, args[0]) })
			},
		})
	return cmd
}

// tagsOf opens a stack, and returns its tags and its name.
func tagsOf(ctx context.Context, open *session.Opener, stack string) (tags backend.Tags, name string, err error) {
	s, err := open.State(ctx, stack)
	if err != nil {
		return nil, "", err
	}
	return s.State, s.Ref.Name, nil
}

func listTags(ctx context.Context, open *session.Opener, stack string, asJSON bool) error {
	from, _, err := tagsOf(ctx, open, stack)
	if err != nil {
		return err
	}
	tags, err := from.Tags(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return format.JSON(open.Terminal.Data(), tags)
	}
	rows := [][2]string{{"NAME", "VALUE"}}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		rows = append(rows, [2]string{name, tags[name]})
	}
	return format.Table(open.Terminal.Out, rows)
}

func getTag(ctx context.Context, open *session.Opener, stack, tag string) error {
	from, name, err := tagsOf(ctx, open, stack)
	if err != nil {
		return err
	}
	tags, err := from.Tags(ctx)
	if err != nil {
		return err
	}
	value, there := tags[tag]
	if !there {
		return fmt.Errorf("stack tag '%s' not found for stack '%s'", tag, name)
	}
	_, err = fmt.Fprintln(open.Terminal.Data(), value)
	return err
}

func editTags(ctx context.Context, open *session.Opener, stack string, edit func(map[string]string)) error {
	in, _, err := tagsOf(ctx, open, stack)
	if err != nil {
		return err
	}
	return in.EditTags(ctx, edit)
}
