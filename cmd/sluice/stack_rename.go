package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackRenameCommand(open *session.Opener, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename <new name>",
		Short: "Give a stack another name",
		Long: "Give a stack another name. The command renames the stack wherever the state names it, and renames its history, its\n" +
			"tags and its configuration file. A name such as organization/<project>/<stack> also changes the project. If the\n" +
			"program uses the name of its stack or project, change it there yourself.\n\n" +
			"If the rename is interrupted, even by a kill, the next command on the stack, under either name, completes it.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return renameStack(cmd.Context(), open, *stack, args[0], asJSON)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

func renameStack(ctx context.Context, open *session.Opener, name, to string, asJSON bool) error {
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	ref, err := s.Session.Resolve(to)
	if err != nil {
		return err
	}
	target := s.Session.Project.StackFilePath(ref.Name)
	if _, err := os.Stat(target); err == nil && target != s.Settings.Path && s.Session.Owns(s.Ref) {
		if _, err := s.Session.Backend.Open(ctx, ref); err == nil {
			return &backend.ExistsError{Name: ref.Name}
		}
		return fmt.Errorf("%s is there already: it would belong to the renamed stack; move it away first", target)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before := s.Name()
	if _, err := s.Session.Backend.Rename(ctx, s.Ref, ref); err != nil {
		return err
	}
	s.Ref = ref
	if s.Session.Project.HasFile() {
		if err := s.Session.Selection.Select(ref.String()); err != nil {
			return err
		}
	}
	if asJSON {
		return format.JSON(open.Terminal.Data(), map[string]string{"from": before, "to": s.Name()})
	}
	_, err = fmt.Fprintf(open.Terminal.Out, "Renamed %s to %s\n", before, s.Name())
	return err
}
