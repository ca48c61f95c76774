package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigGetCommand(c *cli, f *configFlags) *cobra.Command {
	var asJSON, path bool
	cmd := &cobra.Command{
		Use:   "get <key>",
		Short: "Print one setting, decrypted",
		Args:  exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.getConfig(cmd.Context(), f, args[0], path, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	return cmd
}

func (c *cli) getConfig(ctx context.Context, f *configFlags, text string, path, asJSON bool) error {
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	key, err := workspace.ParseSettingKey(text, s.project.Name, path)
	if err != nil {
		return err
	}
	values, _ := workspace.Effective(s.project, s.file)
	v, found := values[key]
	if path {
		if v, found, err = workspace.ValueAt(values, key); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("configuration key '%s' not found for stack '%s'", key.Short(s.project.Name), s.name())
	}
	secret := workspace.HasSecrets(v)
	if secret {
		dec, err := s.configDecrypter(ctx)
		if err != nil {
			return err
		}
		if v, err = workspace.Decrypted(ctx, v, dec); err != nil {
			return workspace.Undecryptable(key, err)
		}
	}
	value := workspace.Text(v)
	if !asJSON {
		_, err = fmt.Fprintln(c.Out, value)
		return err
	}
	entry := configEntry{Value: &value, Secret: secret}
	if workspace.IsObject(v) {
		entry.ObjectValue = v
	}
	return format.JSON(c.Out, entry)
}
