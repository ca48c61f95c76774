package main

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// configSetFlags define how a value is read and stored.
type configSetFlags struct {
	settings.Storage
	raw bool
}

func newConfigSetCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	set := &configSetFlags{}
	cmd := &cobra.Command{
		Use:   "set <key> [value]",
		Short: "Set a setting",
		Long: "Set a setting. Without a value, the command reads it from the standard input, or asks for it at a terminal.\n\n" +
			"With --path, the key is a path into a structured setting, such as servers[0].name. Then true, false and integers\n" +
			"are stored with their types, and everything else as text.",
		Args: rangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setConfig(cmd.Context(), open, f, set, args)
		},
	}
	cmd.Flags().BoolVar(&set.Secret, "secret", false, "encrypt the value")
	cmd.Flags().BoolVar(&set.Plaintext, "plaintext", false, "store the value in plain text even if it looks like a secret")
	cmd.Flags().BoolVar(&set.Path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	cmd.Flags().BoolVar(&set.raw, "raw", false, "keep the final line end of a value from the standard input")
	cmd.Flags().StringVar(&set.Type, "type", "", "store the value as string, int, bool or float")
	return cmd
}

func setConfig(ctx context.Context, open *session.Opener, f *flags.Stack, set *configSetFlags, args []string) error {
	if set.Secret && set.Plaintext {
		return exit.Usagef("--secret and --plaintext cannot be used together")
	}
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	key, err := workspace.ParseSettingKey(args[0], s.Session.Project.Name, set.Path)
	if err != nil {
		return err
	}
	text, err := settingText(ctx, open.Terminal, set, args)
	if err != nil {
		return err
	}
	before := maps.Clone(s.Settings.Values())
	value, err := settings.Store(ctx, s, set.Storage, key, text)
	if err != nil {
		return err
	}
	if set.Path {
		err = s.Settings.SetPath(key, value)
	} else {
		err = s.Settings.Set(key, value, set.Type != "")
	}
	if err != nil {
		return err
	}
	return settings.Save(ctx, s, before)
}

func settingText(ctx context.Context, t *terminal.Terminal, set *configSetFlags, args []string) (string, error) {
	switch {
	case len(args) == 2:
		return args[1], nil
	case !t.Interactive():
		return t.ReadValue(ctx, set.raw)
	case set.Secret:
		return t.AskHidden(ctx, "value: ")
	}
	return t.Ask(ctx, "value: ")
}
