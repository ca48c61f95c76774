package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// configSetFlags say how a value is to be stored.
type configSetFlags struct {
	secret, plaintext, path, raw bool
	typ                          string
}

func newConfigSetCommand(c *cli, f *configFlags) *cobra.Command {
	set := &configSetFlags{}
	cmd := &cobra.Command{
		Use:   "set <key> [value]",
		Short: "Give a setting a value",
		Long: "Give a setting a value. Without a value it is read from the standard input, or asked for on a terminal.\n\n" +
			"With --path the key is a path into a structured setting, such as servers[0].name: true, false and integers\n" +
			"are then stored as such, everything else as text.",
		Args: rangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.setConfig(cmd.Context(), f, set, args)
		},
	}
	cmd.Flags().BoolVar(&set.secret, "secret", false, "encrypt the value")
	cmd.Flags().BoolVar(&set.plaintext, "plaintext", false, "store the value in plain text even if it looks like a secret")
	cmd.Flags().BoolVar(&set.path, "path", false, "the key is a path to a part of a setting, such as a.b[0]")
	cmd.Flags().BoolVar(&set.raw, "raw", false, "keep the final line end of a value from the standard input")
	cmd.Flags().StringVar(&set.typ, "type", "", "store the value as string, int, bool or float")
	return cmd
}

func (c *cli) setConfig(ctx context.Context, f *configFlags, set *configSetFlags, args []string) error {
	if set.secret && set.plaintext {
		return exit.Usagef("--secret and --plaintext exclude each other")
	}
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	key, err := workspace.ParseSettingKey(args[0], s.project.Name, set.path)
	if err != nil {
		return err
	}
	text, err := c.configText(set, args)
	if err != nil {
		return err
	}
	value, err := c.configValue(ctx, s, set, key, text)
	if err != nil {
		return err
	}
	if set.path {
		err = s.file.SetPath(key, value)
	} else {
		err = s.file.Set(key, value, set.typ != "")
	}
	if err != nil {
		return err
	}
	return s.file.Save()
}

func (c *cli) configText(set *configSetFlags, args []string) (string, error) {
	switch {
	case len(args) == 2:
		return args[1], nil
	case !c.Interactive():
		return terminal.ReadAll(c.In, set.raw)
	case set.secret:
		return c.AskHidden("value: ")
	}
	return c.Ask("value: ")
}

func (c *cli) configValue(ctx context.Context, s *session, set *configSetFlags, key workspace.Key, text string) (workspace.Value, error) {
	if set.secret {
		enc, err := s.configEncrypter(ctx)
		if err != nil {
			return nil, err
		}
		ciphertext, err := enc.Encrypt(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("encrypt the setting %s: %w", key, err)
		}
		return workspace.Secure(ciphertext), nil
	}
	if !set.plaintext && workspace.LooksSecret(key, text) {
		return nil, errors.New("config value for '" + key.Short(s.project.Name) +
			"' looks like a secret; rerun with --secret to encrypt it, or --plaintext if you meant to store in plaintext")
	}
	if set.typ != "" {
		return workspace.TypedScalar(set.typ, text)
	}
	if set.path {
		return workspace.PathScalar(text), nil
	}
	return text, nil
}
