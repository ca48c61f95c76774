package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

func newStackExportCommand(open *session.Opener, stack *string) *cobra.Command {
	var file, version string
	var showSecrets bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the state of a stack as JSON",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exportStack(cmd.Context(), open, *stack, file, version, showSecrets)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to this file instead of the standard output")
	cmd.Flags().StringVar(&version, "version", "", "write the state after this operation of sluice stack history (default the present state)")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "write secrets in plain text")
	return cmd
}

func exportStack(ctx context.Context, open *session.Opener, name, file, version string, showSecrets bool) error {
	number := 0
	if version != "" {
		var err error
		if number, err = strconv.Atoi(version); err != nil || number < 1 {
			return exit.Usagef("--version %s: write the number of a version; `sluice stack history` lists them", version)
		}
	}
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	export := func() ([]byte, error) { return s.State.Export(ctx, showSecrets) }
	if number > 0 {
		export = func() ([]byte, error) { return s.State.ExportVersion(ctx, number, showSecrets) }
	}
	text, err := export()
	if err != nil {
		return err
	}
	if showSecrets {
		session.NoteDecryption(ctx, s, "", "pulumi stack export")
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	if file == "" {
		_, err = printable.JSONWriter{Out: open.Terminal.Data()}.Write(text)
		return err
	}
	// An export can hold secrets in plain text.
	if err := private.Write(file, text); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
