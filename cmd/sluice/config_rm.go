package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigRemoveCommand(c *cli, f *configFlags) *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:     "rm <key>",
		Aliases: []string{"remove"},
		Short:   "Remove a setting",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.removeConfig(cmd.Context(), f, args[0], path)
		},
	}
	cmd.Flags().BoolVar(&path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	return cmd
}

func (c *cli) removeConfig(ctx context.Context, f *configFlags, text string, path bool) error {
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	if err := s.removeSetting(text, path); err != nil {
		return err
	}
	return s.file.Save()
}

// removeSetting removes a setting, or a part of one, from the file in memory.
func (s *session) removeSetting(text string, path bool) error {
	key, err := workspace.ParseSettingKey(text, s.project.Name, path)
	if err != nil {
		return err
	}
	if path {
		_, err = s.file.RemovePath(key)
	} else {
		_, err = s.file.Remove(key)
	}
	return err
}
