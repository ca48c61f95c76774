package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newStackExportCommand(c *cli, stack *string) *cobra.Command {
	var file string
	var showSecrets bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the state of a stack as JSON",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.exportStack(cmd.Context(), *stack, file, showSecrets)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to this file instead of the standard output")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "write secrets in plain text")
	return cmd
}

func (c *cli) exportStack(ctx context.Context, name, file string, showSecrets bool) error {
	s, err := c.openStack(ctx, name, "")
	if err != nil {
		return err
	}
	text, err := s.stack.Export(ctx, showSecrets)
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	if file == "" {
		_, err = c.Out.Write(text)
		return err
	}
	// An export can hold secrets in plain text.
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
