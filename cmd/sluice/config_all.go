package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigSetAllCommand(c *cli, f *configFlags) *cobra.Command {
	var plain, secret []string
	var path bool
	var file string
	cmd := &cobra.Command{
		Use:   "set-all --plaintext key=value --secret key=value ...",
		Short: "Give several settings values, all or none of them",
		Long: "Give several settings values, all or none of them. --json reads what `sluice config --json` writes; - is the\n" +
			"standard input.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.setAllConfig(cmd.Context(), f, plain, secret, file, path)
		},
	}
	cmd.Flags().StringArrayVar(&plain, "plaintext", nil, "store this value in plain text: key=value")
	cmd.Flags().StringArrayVar(&secret, "secret", nil, "encrypt this value: key=value")
	cmd.Flags().StringVar(&file, "json", "", "read settings from this `file`, as config --json writes them")
	cmd.Flags().BoolVar(&path, "path", false, "keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func (c *cli) setAllConfig(ctx context.Context, f *configFlags, plain, secret []string, file string, path bool) error {
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	if file != "" {
		if err := s.setFromJSON(ctx, file); err != nil {
			return err
		}
	}
	for i, setting := range append(append([]string{}, plain...), secret...) {
		text, value, found := strings.Cut(setting, "=")
		if !found {
			return exit.Usagef("%q: write key=value", setting)
		}
		key, err := workspace.ParseSettingKey(text, s.project.Name, path)
		if err != nil {
			return err
		}
		v, err := c.configValue(ctx, s, &configSetFlags{secret: i >= len(plain), plaintext: i < len(plain), path: path}, key, value)
		if err != nil {
			return err
		}
		if path {
			err = s.file.SetPath(key, v)
		} else {
			err = s.file.Set(key, v, false)
		}
		if err != nil {
			return err
		}
	}
	return s.file.Save()
}

func (s *session) setFromJSON(ctx context.Context, file string) error {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(s.cli.In)
	} else {
		text, err = os.ReadFile(file)
	}
	entries := map[string]configEntry{}
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err != nil {
		return exit.Usagef("--json %s: %w", file, err)
	}
	for name, e := range entries {
		key, err := workspace.ParseKey(name, s.project.Name)
		if err != nil {
			return err
		}
		if e.Value == nil {
			return exit.Usagef("--json %s: %s has no value; write it with `sluice config --json --show-secrets`", file, name)
		}
		var v workspace.Value = *e.Value
		switch {
		case e.Secret:
			enc, err := s.configEncrypter(ctx)
			if err != nil {
				return err
			}
			sealed, err := enc.Encrypt(ctx, *e.Value)
			if err != nil {
				return err
			}
			v = workspace.Secure(sealed)
		case e.ObjectValue != nil:
			v = e.ObjectValue
		}
		if err := s.file.Set(key, v, false); err != nil {
			return err
		}
	}
	return nil
}

func newConfigRemoveAllCommand(c *cli, f *configFlags) *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:   "rm-all <key>...",
		Short: "Remove several settings",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usagef("name the settings to remove; see `%s --help`", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.removeAllConfig(cmd.Context(), f, args, path) },
	}
	cmd.Flags().BoolVar(&path, "path", false, "keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func (c *cli) removeAllConfig(ctx context.Context, f *configFlags, keys []string, path bool) error {
	s, err := c.openStack(ctx, f.stack, f.file)
	if err != nil {
		return err
	}
	for _, text := range keys {
		if err := s.removeSetting(text, path); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return s.file.Save()
}
