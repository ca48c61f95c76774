package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func newStackRenameCommand(c *cli, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename <new name>",
		Short: "Give a stack another name",
		Long: "Give a stack another name: its state with everything that names the stack in it, its history, its tags and its\n" +
			"configuration file. A name such as organization/<project>/<stack> also changes the project. The program has to be\n" +
			"told when it uses the name of its stack or project itself.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.renameStack(cmd.Context(), *stack, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

func (c *cli) renameStack(ctx context.Context, name, to string, asJSON bool) error {
	s, err := c.openStack(ctx, name, "")
	if err != nil {
		return err
	}
	ref, err := s.backend.Resolve(to)
	if err != nil {
		return &statusError{status: statusUsage, err: err}
	}
	target := s.project.StackFilePath(ref.Name)
	if _, err := os.Stat(target); err == nil && target != s.file.Path {
		return fmt.Errorf("%s is there already: it would belong to the renamed stack; move it away first", target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before := s.name()
	if _, err := s.backend.Rename(ctx, s.ref, ref); err != nil {
		return err
	}
	if s.file.Exists() && ref.Name != s.ref.Name {
		if err := os.Rename(s.file.Path, target); err != nil {
			return fmt.Errorf("the stack is called %s now, but its configuration file is not: %w", to, err)
		}
	}
	s.ref = ref
	if err := s.selection.Select(ref.String()); err != nil {
		return err
	}
	if asJSON {
		return c.writeJSON(map[string]string{"from": before, "to": s.name()})
	}
	_, err = fmt.Fprintf(c.out, "Renamed %s to %s\n", before, s.name())
	return err
}
