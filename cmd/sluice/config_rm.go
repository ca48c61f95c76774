package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
)

func newConfigRemoveCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:     "rm <key>",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove a setting",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeConfig(cmd.Context(), open, f, args[0], path)
		},
	}
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	return cmd
}

func removeConfig(ctx context.Context, open *session.Opener, f *flags.Stack, text string, path bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	if err := settings.Remove(s, text, path); err != nil {
		return err
	}
	return s.Settings.Save()
}
