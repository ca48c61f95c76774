package main

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// configFlags are shared by the config commands.
type configFlags struct {
	stack, file string
}

func newConfigCommand(c *cli) *cobra.Command {
	f := &configFlags{}
	var asJSON, showSecrets bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List and change the configuration of a stack",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listConfig(cmd.Context(), f, asJSON, showSecrets)
		},
	}
	cmd.PersistentFlags().StringVarP(&f.stack, "stack", "s", "", "the stack; the selected one if not given")
	cmd.PersistentFlags().StringVar(&f.file, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&showSecrets, "show-secrets", false, "decrypt and show secret values")
	cmd.AddCommand(newConfigGetCommand(c, f), newConfigSetCommand(c, f), newConfigRemoveCommand(c, f), newConfigSetAllCommand(c, f),
		newConfigRemoveAllCommand(c, f), newConfigCopyCommand(c, f), newConfigRefreshCommand(c, f))
	return cmd
}

// configEntry is a setting in JSON listings (state.md 6.5).
type configEntry struct {
	Value       *string `json:"value,omitempty"`
	ObjectValue any     `json:"objectValue,omitempty"`
	Secret      bool    `json:"secret"`
}

func (c *cli) listConfig(ctx context.Context, f *configFlags, asJSON, showSecrets bool) error {
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	values, _ := workspace.Effective(s.project, s.file)
	var dec workspace.Decrypter
	if showSecrets && workspace.AnySecret(values) {
		if dec, err = s.configDecrypter(ctx); err != nil {
			return err
		}
	}
	shown := make(map[workspace.Key]workspace.Value, len(values))
	for k, v := range values {
		shown[k] = workspace.Masked(v)
		if dec != nil {
			if shown[k], err = workspace.Decrypted(ctx, v, dec); err != nil {
				return workspace.Undecryptable(k, err)
			}
		}
	}
	if asJSON {
		return c.writeConfigJSON(values, shown, showSecrets)
	}
	return c.writeConfigTable(s.project.Name, shown)
}

func (c *cli) writeConfigJSON(values, shown map[workspace.Key]workspace.Value, showSecrets bool) error {
	out := make(map[string]configEntry, len(values))
	for k, v := range values {
		entry := configEntry{Secret: workspace.HasSecrets(v)}
		if !entry.Secret || showSecrets {
			text := workspace.Text(shown[k])
			entry.Value = &text
			if workspace.IsObject(v) {
				entry.ObjectValue = shown[k]
			}
		}
		out[k.String()] = entry
	}
	return format.JSON(c.Out, out)
}

func (c *cli) writeConfigTable(project string, shown map[workspace.Key]workspace.Value) error {
	rows := [][2]string{{"KEY", "VALUE"}}
	keys := slices.SortedFunc(maps.Keys(shown), workspace.CompareKeys)
	for _, k := range keys {
		rows = append(rows, [2]string{k.Short(project), workspace.Text(shown[k])})
	}
	return format.Table(c.Out, rows)
}
