package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
)

func newConfigRemoveAllCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:     "rm-all <key>...",
		Aliases: []string{"remove-all", "delete-all"},
		Short:   "Remove several settings",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usagef("name the settings to remove; see `%s --help`", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeAllConfig(cmd.Context(), open, f, args, path)
		},
	}
	cmd.Flags().BoolVar(&path, "path", false, "keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func removeAllConfig(ctx context.Context, open *session.Opener, f *flags.Stack, keys []string, path bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	for _, text := range keys {
		if err := settings.Remove(s, text, path); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return s.Settings.Save()
}
