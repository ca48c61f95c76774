package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newStackImportCommand(open *session.Opener, stack *string) *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Replace the state of a stack by an export",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return importStack(cmd.Context(), open, *stack, file, force)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "read this file instead of the standard input")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "import a state that does not fit the stack or is inconsistent")
	return cmd
}

func importStack(ctx context.Context, open *session.Opener, name, file string, force bool) error {
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	var text []byte
	origin := file
	if file == "" {
		origin = "the standard input"
		text, err = io.ReadAll(open.Terminal.In)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	manager, err := session.SecretsManager(ctx, s)
	if err != nil {
		return err
	}
	warnings, err := s.State.WithSecrets(manager).Import(ctx, text, force)
	for _, w := range warnings {
		open.Terminal.Warn("%s", w)
	}
	if err != nil {
		return fmt.Errorf("import of %s: %w", origin, err)
	}
	if err := s.Settings.Save(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(open.Terminal.Out, "Import complete.")
	return err
}
