package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStackRenameCommand(c *cli, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename <new name>",
		Short: "Give a stack another name",
		Long: "Give a stack another name: its state with everything that names the stack in it, its history, its tags and its\n" +
			"configuration file. A name such as organization/<project>/<stack> also changes the project. The program has to be\n" +
			"told when it uses the name of its stack or project itself.\n\n" +
			"If that is interrupted, even by a kill, the next command on the stack, under either name, completes it.",
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
		return exit.AsUsage(err)
	}
	target := s.project.StackFilePath(ref.Name)
	if _, err := os.Stat(target); err == nil && target != s.file.Path && s.owns(s.ref) {
		return fmt.Errorf("%s is there already: it would belong to the renamed stack; move it away first", target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before := s.name()
	if _, err := s.backend.Rename(ctx, s.ref, ref); err != nil {
		return err
	}
	s.ref = ref
	if err := s.selection.Select(ref.String()); err != nil {
		return err
	}
	if asJSON {
		return format.JSON(c.Out, map[string]string{"from": before, "to": s.name()})
	}
	_, err = fmt.Fprintf(c.Out, "Renamed %s to %s\n", before, s.name())
	return err
}

// follow makes what this project knows of a stack follow it to its new name: its configuration file and the selection. It is
// told of renames by this process and of those that were cut off and are completed by it, perhaps in the folder of another
// project or on another machine than they began.
func (s *session) follow(from, to sluice.StackRef) (remark string, err error) {
	if selected, err := s.selection.Stack(); err == nil && selected != "" {
		if ref, err := s.backend.Resolve(selected); err == nil && ref == from {
			if err := s.selection.Select(to.String()); err != nil {
				return "", err
			}
		}
	}
	source, target := s.project.StackFilePath(from.Name), s.project.StackFilePath(to.Name)
	if source == target || from.Project == "" {
		return "", nil
	}
	if !s.owns(from) {
		return fmt.Sprintf("its configuration file has to be renamed from %s to %s in the folder of its project",
			filepath.Base(source), filepath.Base(target)), nil
	}
	if _, err := os.Lstat(source); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if _, err := os.Lstat(target); err == nil {
		return fmt.Sprintf("%s and %s are both there: keep the one that is right as %s", source, target, filepath.Base(target)), nil
	}
	if err := os.Rename(source, target); err != nil {
		return "", fmt.Errorf("the stack is called %s now, but its configuration file is not: %w", to.Display(s.project.Name), err)
	}
	return "", nil
}

// owns tells whether the configuration of a stack is in the folder of this project.
func (s *session) owns(ref sluice.StackRef) bool {
	return ref.Project == "" || ref.Project == s.project.Name
}
