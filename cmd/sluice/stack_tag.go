package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStackTagCommand(c *cli, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tag",
		Short: "List and change the tags of a stack",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the tags", Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listTags(cmd.Context(), *stack, asJSON) },
	}
	list.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	cmd.AddCommand(list,
		&cobra.Command{
			Use: "get <name>", Short: "Print a tag", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return c.getTag(cmd.Context(), *stack, args[0]) },
		},
		&cobra.Command{
			Use: "set <name> <value>", Short: "Give a tag a value", Args: exactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.editTags(cmd.Context(), *stack, func(tags map[string]string) { tags[args[0]] = args[1] })
			},
		},
		&cobra.Command{
			Use: "rm <name>", Aliases: []string{"remove"}, Short: "Remove a tag", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.editTags(cmd.Context(), *stack, func(tags map[string]string) { delete(tags, args[0]) })
			},
		})
	return cmd
}

func (c *cli) taggedStack(ctx context.Context, name string) (sluice.Stack, error) {
	s, err := c.openState(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.stack, nil
}

func (c *cli) listTags(ctx context.Context, name string, asJSON bool) error {
	stack, err := c.taggedStack(ctx, name)
	if err != nil {
		return err
	}
	tags, err := stack.Tags(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return format.JSON(c.Out, tags)
	}
	rows := [][2]string{{"NAME", "VALUE"}}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		rows = append(rows, [2]string{format.Printable(name), format.Printable(tags[name])})
	}
	return format.Table(c.Out, rows)
}

func (c *cli) getTag(ctx context.Context, stackName, name string) error {
	stack, err := c.taggedStack(ctx, stackName)
	if err != nil {
		return err
	}
	tags, err := stack.Tags(ctx)
	if err != nil {
		return err
	}
	value, there := tags[name]
	if !there {
		return fmt.Errorf("stack tag '%s' not found for stack '%s'", name, stack.Ref().Name)
	}
	_, err = fmt.Fprintln(c.Out, value)
	return err
}

func (c *cli) editTags(ctx context.Context, name string, edit func(map[string]string)) error {
	stack, err := c.taggedStack(ctx, name)
	if err != nil {
		return err
	}
	return stack.EditTags(ctx, edit)
}
