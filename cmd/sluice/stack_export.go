package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/private"
)

func newStackExportCommand(open *session.Opener, stack *string) *cobra.Command {
	var file string
	var showSecrets bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the state of a stack as JSON",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exportStack(cmd.Context(), open, *stack, file, showSecrets)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to this file instead of the standard output")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "write secrets in plain text")
	return cmd
}

func exportStack(ctx context.Context, open *session.Opener, name, file string, showSecrets bool) error {
	s, err := open.Stack(ctx, name, "")
	if err != nil {
		return err
	}
	text, err := s.State.Export(ctx, showSecrets)
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	if file == "" {
		_, err = open.Terminal.Out.Write(text)
		return err
	}
	// An export can hold secrets in plain text.
	if err := private.Write(file, text); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
