package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigCopyCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var dest, destFile string
	var path bool
	cmd := &cobra.Command{
		Use:     "cp [key]",
		Aliases: []string{"copy"},
		Short:   "Copy settings to another stack",
		Long:    "Copy a setting, or all of them, to another stack. Secrets are encrypted with the key of that stack.",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return copyConfig(cmd.Context(), open, f, dest, destFile, args, path)
		},
	}
	cmd.Flags().StringVarP(&dest, "dest", "d", "", "the stack to copy to")
	cmd.Flags().StringVar(&destFile, "dest-config-file", "", "use this file instead of Pulumi.<destination>.yaml")
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	return cmd
}

func copyConfig(ctx context.Context, open *session.Opener, f *flags.Stack, dest, destFile string, keys []string, path bool) error {
	if dest == "" {
		return exit.Usagef("name the stack to copy to with --dest")
	}
	from, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	to, err := open.Stack(ctx, dest, destFile)
	if err != nil {
		return err
	}
	if from.Ref == to.Ref && from.Settings.Path == to.Settings.Path {
		return exit.Usagef("source and destination are the same stack, %s", from.Name())
	}
	copied := maps.Clone(from.Settings.Values())
	if len(keys) == 1 {
		key, err := workspace.ParseSettingKey(keys[0], from.Session.Project.Name, path)
		if err != nil {
			return err
		}
		v, found := copied[key]
		if path {
			if v, found, err = workspace.ValueAt(copied, key); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("configuration key '%s' not found for stack '%s'", key.Short(from.Session.Project.Name), from.Name())
		}
		copied = map[workspace.Key]workspace.Value{key: v}
	}
	return putSettings(ctx, from, to, copied, path)
}

// putSettings copies settings to another stack, and saves them. path reports whether their keys are paths.
func putSettings(ctx context.Context, from, to *session.Stack, copied map[workspace.Key]workspace.Value, path bool) error {
	if err := reencryptFor(ctx, from, to, copied); err != nil {
		return err
	}
	before := maps.Clone(to.Settings.Values())
	for key, v := range copied {
		put := to.Settings.Put
		if path {
			put = to.Settings.SetPath
		}
		if err := put(key, v); err != nil {
			return err
		}
	}
	return settings.Save(ctx, to, before)
}

// reencryptFor encrypts the secrets among values with the key of another stack.
func reencryptFor(ctx context.Context, from, to *session.Stack, values map[workspace.Key]workspace.Value) error {
	if !workspace.AnySealed(values) {
		return nil
	}
	dec, err := session.SettingsDecrypter(ctx, from)
	if err != nil {
		return err
	}
	enc, err := session.SettingsEncrypter(ctx, to)
	if err != nil {
		return err
	}
	if err := workspace.ReencryptAhead(ctx, dec, enc, maps.Values(values)); err != nil {
		return err
	}
	for key, v := range values {
		if values[key], err = workspace.Reencrypted(ctx, v, dec, enc); err != nil {
			return workspace.Undecryptable(key, err)
		}
	}
	return nil
}
