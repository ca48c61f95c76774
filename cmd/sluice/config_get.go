package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigGetCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var asJSON, path, opens bool
	cmd := &cobra.Command{
		Use:   "get <key>",
		Short: "Print one setting, decrypted",
		Args:  exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return getConfig(cmd.Context(), open, f, args[0], path, asJSON, opens)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	cmd.Flags().BoolVar(&opens, "open", true, "open the environments of the stack; with --open=false, values that they get from other systems are unknown")
	return cmd
}

func getConfig(ctx context.Context, open *session.Opener, f *flags.Stack, text string, path, asJSON, opens bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	key, err := workspace.ParseSettingKey(text, s.Project.Name, path)
	if err != nil {
		return err
	}
	opened, err := environments.Of(ctx, s, environments.Query{Open: opens})
	if err != nil {
		return err
	}
	if err := opened.Complete(ctx, s); err != nil {
		return err
	}
	values, _ := workspace.Effective(s.Project, s.Settings)
	v, found := values[key]
	if path {
		if v, found, err = workspace.ValueAt(values, key); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("configuration key '%s' not found for stack '%s'", key.Short(s.Project.Name), s.Name())
	}
	secret := workspace.HasSecrets(v)
	if secret {
		var dec workspace.Decrypter
		if workspace.IsSealed(v) {
			if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
				return err
			}
		}
		if v, err = workspace.Decrypted(ctx, v, dec); err != nil {
			return workspace.Undecryptable(key, err)
		}
		session.NoteDecryption(ctx, s, key.Name, "")
	}
	value := workspace.Text(v)
	if !asJSON {
		_, err = fmt.Fprintln(open.Terminal.Out, value)
		return err
	}
	entry := settings.Entry{Value: &value, Secret: secret}
	if workspace.IsObject(v) {
		entry.ObjectValue = v
	}
	return format.JSON(open.Terminal.Out, entry)
}
