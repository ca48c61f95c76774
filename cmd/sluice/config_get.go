package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/property"
)

func newConfigGetCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var asJSON, path, opens, origins bool
	cmd := &cobra.Command{
		Use:   "get <key>",
		Short: "Print one setting, decrypted",
		Args:  exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return getConfig(cmd.Context(), open, f, args[0], path, asJSON, opens, origins)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	cmd.Flags().BoolVar(&opens, "open", true, "open the environments of the stack; with --open=false, values that they get from other systems are unknown")
	addShowOrigin(cmd, &origins)
	return cmd
}

func getConfig(ctx context.Context, open *session.Opener, f *flags.Stack, text string, path, asJSON, opens, origins bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	key, err := workspace.ParseSettingKey(text, s.Session.Project.Name, path)
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
	values, _, err := workspace.Effective(s.Session.Project, s.Settings)
	if err != nil {
		return err
	}
	v, found := values[key]
	if path {
		if v, found, err = workspace.ValueAt(values, key); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("configuration key '%s' not found for stack '%s'", key.Short(s.Session.Project.Name), s.Name())
	}
	secret := workspace.HasSecrets(v)
	var dec workspace.Decrypter
	decrypt := func(v workspace.Value) (workspace.Value, error) {
		plain, err := workspace.Decrypted(ctx, v, dec)
		if err != nil {
			err = workspace.Undecryptable(key, err)
		}
		return plain, err
	}
	sealed := v
	if secret {
		if workspace.IsSealed(v) {
			if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
				return err
			}
		}
		if v, err = decrypt(v); err != nil {
			return err
		}
		session.NoteDecryption(ctx, s, key.Name, "")
	}
	var parts []workspace.Part
	var places []settings.Origin
	if origins {
		top, at := key, property.Path(nil)
		if path {
			if top, at, err = workspace.SplitPath(key); err != nil {
				return err
			}
		}
		parts, places = settings.Parts(s, top, at, sealed)
	}
	value := workspace.Text(v)
	if !asJSON && origins {
		return writeParts(open.Terminal.Data(), parts, places, decrypt)
	}
	if !asJSON {
		_, err = fmt.Fprintln(open.Terminal.Data(), value)
		return err
	}
	entry := settings.Entry{Value: &value, Secret: secret, Origins: places}
	if workspace.IsObject(v) {
		entry.ObjectValue = v
	}
	return format.JSON(open.Terminal.Data(), entry)
}

// writeParts writes the parts of a setting with the places that they come from.
func writeParts(w io.Writer, parts []workspace.Part, places []settings.Origin, decrypt func(workspace.Value) (workspace.Value, error)) error {
	rows := [][]string{{"KEY", "VALUE", "FROM"}}
	for i, part := range parts {
		v, err := decrypt(part.Value)
		if err != nil {
			return err
		}
		rows = append(rows, []string{places[i].Path, workspace.Text(v), places[i].From})
	}
	return format.Columns(w, rows)
}
