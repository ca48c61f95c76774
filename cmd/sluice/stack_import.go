package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func newStackImportCommand(c *cli, stack *string) *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Replace the state of a stack by an export",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.importStack(cmd.Context(), *stack, file, force)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "read this file instead of the standard input")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "import a state that does not fit the stack or is inconsistent")
	return cmd
}

func (c *cli) importStack(ctx context.Context, name, file string, force bool) error {
	s, err := c.openStack(ctx, name, "")
	if err != nil {
		return err
	}
	var text []byte
	origin := file
	if file == "" {
		origin = "the standard input"
		text, err = io.ReadAll(c.In)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	manager, err := s.secretsManager(ctx)
	if err != nil {
		return err
	}
	warnings, err := s.stack.WithSecrets(manager).Import(ctx, text, force)
	for _, w := range warnings {
		c.Warn("%s", w)
	}
	if err != nil {
		return fmt.Errorf("import of %s: %w", origin, err)
	}
	if err := s.file.Save(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.Out, "Import complete.")
	return err
}
