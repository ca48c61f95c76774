package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigCommand(open *session.Opener) *cobra.Command {
	f := &flags.Stack{}
	var asJSON, showSecrets, opens, origins bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List and change the configuration of a stack",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("open") {
				opens = showSecrets
			}
			return listConfig(cmd.Context(), open, f, configListing{asJSON, showSecrets, opens, origins})
		},
	}
	f.Add(cmd.PersistentFlags())
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "decrypt and show secret values")
	cmd.Flags().BoolVar(&opens, "open", false, "open the environments of the stack; otherwise values that they get from other systems are unknown (default with --show-secrets)")
	addShowOrigin(cmd, &origins)
	cmd.AddCommand(newConfigGetCommand(open, f), newConfigSetCommand(open, f), newConfigRemoveCommand(open, f), newConfigSetAllCommand(open, f),
		newConfigRemoveAllCommand(open, f), newConfigCopyCommand(open, f), newConfigRefreshCommand(open, f), newConfigEnvCommand(open, f), newConfigEncryptCommand(open, f))
	return cmd
}

// configListing defines what the list of settings has.
type configListing struct{ asJSON, showSecrets, opens, origins bool }

func addShowOrigin(cmd *cobra.Command, origins *bool) {
	cmd.Flags().BoolVar(origins, "show-origin", false, "show where each value comes from: the file of the stack, its environments or the project file")
}

func listConfig(ctx context.Context, open *session.Opener, f *flags.Stack, how configListing) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	opened, err := environments.Of(ctx, s, environments.Query{Open: how.opens})
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
	var dec workspace.Decrypter
	if how.showSecrets && workspace.AnySealed(values) {
		if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
			return err
		}
		if err := workspace.OpenAhead(ctx, dec, maps.Values(values)); err != nil {
			return err
		}
	}
	shown := make(map[workspace.Key]workspace.Value, len(values))
	for k, v := range values {
		shown[k] = workspace.Masked(v)
		if how.showSecrets {
			if shown[k], err = workspace.Decrypted(ctx, v, dec); err != nil {
				return workspace.Undecryptable(k, err)
			}
		}
	}
	if how.showSecrets {
		session.NoteDecryption(ctx, s, "", "pulumi config")
	}
	var origins map[workspace.Key][]settings.Origin
	if how.origins {
		origins = make(map[workspace.Key][]settings.Origin, len(values))
		for k, v := range values {
			_, origins[k] = settings.Parts(s, k, nil, v)
		}
	}
	if how.asJSON {
		return writeConfigJSON(open.Terminal.Data(), values, shown, origins, how.showSecrets)
	}
	if err := writeConfigTable(open.Terminal.Out, s.Session.Project.Name, shown, origins); err != nil {
		return err
	}
	return writeVariables(open.Terminal.Out, opened.Variables(), how.showSecrets)
}

// writeVariables writes the variables that environments set for processes.
func writeVariables(w io.Writer, list []environments.Variable, showSecrets bool) error {
	if len(list) == 0 {
		return nil
	}
	rows := [][2]string{{"ENVIRONMENT VARIABLE", "VALUE"}}
	for _, v := range list {
		text := v.Text
		switch {
		case v.IsFile:
			text = "[a file]"
		case v.Secret && !showSecrets:
			text = "[secret]"
		}
		rows = append(rows, [2]string{v.Name, text})
	}
	fmt.Fprintln(w)
	return format.Table(w, rows)
}

func writeConfigJSON(w io.Writer, values, shown map[workspace.Key]workspace.Value, origins map[workspace.Key][]settings.Origin, showSecrets bool) error {
	out := make(map[string]settings.Entry, len(values))
	for k, v := range values {
		entry := settings.Entry{Secret: workspace.HasSecrets(v), Origins: origins[k]}
		if !entry.Secret || showSecrets {
			text := workspace.Text(shown[k])
			entry.Value = &text
			if workspace.IsObject(v) {
				entry.ObjectValue = shown[k]
			}
		}
		out[k.String()] = entry
	}
	return format.JSON(w, out)
}

// writeConfigTable writes a table. origins is nil if it is without them.
func writeConfigTable(w io.Writer, project string, shown map[workspace.Key]workspace.Value, origins map[workspace.Key][]settings.Origin) error {
	keys := slices.SortedFunc(maps.Keys(shown), workspace.CompareKeys)
	if origins == nil {
		rows := [][2]string{{"KEY", "VALUE"}}
		for _, k := range keys {
			rows = append(rows, [2]string{k.Short(project), workspace.Text(shown[k])})
		}
		return format.Table(w, rows)
	}
	rows := [][]string{{"KEY", "VALUE", "FROM"}}
	for _, k := range keys {
		rows = append(rows, []string{k.Short(project), workspace.Text(shown[k]), settings.From(origins[k])})
	}
	return format.Columns(w, rows)
}
