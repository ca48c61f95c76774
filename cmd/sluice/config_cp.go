package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigCopyCommand(c *cli, f *configFlags) *cobra.Command {
	var dest, destFile string
	var path bool
	cmd := &cobra.Command{
		Use:   "cp [key]",
		Short: "Copy settings to another stack",
		Long:  "Copy a setting, or all of them, to another stack. Secrets are encrypted with the key of that stack.",
		Args:  rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.copyConfig(cmd.Context(), f, dest, destFile, args, path)
		},
	}
	cmd.Flags().StringVarP(&dest, "dest", "d", "", "the stack to copy to")
	cmd.Flags().StringVar(&destFile, "dest-config-file", "", "use this file instead of Pulumi.<destination>.yaml")
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	return cmd
}

func (c *cli) copyConfig(ctx context.Context, f *configFlags, dest, destFile string, keys []string, path bool) error {
	if dest == "" {
		return exit.Usagef("name the stack to copy to with --dest")
	}
	from, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	to, err := c.openStack(ctx, dest, destFile)
	if err != nil {
		return err
	}
	if from.ref == to.ref && from.file.Path == to.file.Path {
		return exit.Usagef("source and destination are the same stack, %s", from.name())
	}
	copied := maps.Clone(from.file.Values())
	if len(keys) == 1 {
		key, err := workspace.ParseSettingKey(keys[0], from.project.Name, path)
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
			return fmt.Errorf("configuration key '%s' not found for stack '%s'", key.Short(from.project.Name), from.name())
		}
		copied = map[workspace.Key]workspace.Value{key: v}
	}
	if err := from.reencryptFor(ctx, to, copied); err != nil {
		return err
	}
	for key, v := range copied {
		if path {
			err = to.file.SetPath(key, v)
		} else {
			err = to.file.Put(key, v)
		}
		if err != nil {
			return err
		}
	}
	return to.file.Save()
}

// reencryptFor encrypts the secrets among values with the key of another stack.
func (s *session) reencryptFor(ctx context.Context, to *session, values map[workspace.Key]workspace.Value) error {
	if !workspace.AnySecret(values) {
		return nil
	}
	dec, err := s.configDecrypter(ctx)
	if err != nil {
		return err
	}
	enc, err := to.configEncrypter(ctx)
	if err != nil {
		return err
	}
	for key, v := range values {
		if values[key], err = workspace.Reencrypted(ctx, v, dec, enc); err != nil {
			return workspace.Undecryptable(key, err)
		}
	}
	return nil
}
