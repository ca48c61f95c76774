package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newConfigSetAllCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
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
			return setAllConfig(cmd.Context(), open, f, plain, secret, file, path)
		},
	}
	cmd.Flags().StringArrayVar(&plain, "plaintext", nil, "store this value in plain text: key=value")
	cmd.Flags().StringArrayVar(&secret, "secret", nil, "encrypt this value: key=value")
	cmd.Flags().StringVar(&file, "json", "", "read settings from this `file`, as config --json writes them")
	cmd.Flags().BoolVar(&path, "path", false, "keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func setAllConfig(ctx context.Context, open *session.Opener, f *flags.Stack, plain, secret []string, file string, path bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	if file != "" {
		if err := setFromJSON(ctx, s, file); err != nil {
			return err
		}
	}
	for i, setting := range append(append([]string{}, plain...), secret...) {
		text, value, found := strings.Cut(setting, "=")
		if !found {
			return exit.Usagef("%q: write key=value", setting)
		}
		key, err := workspace.ParseSettingKey(text, s.Project.Name, path)
		if err != nil {
			return err
		}
		v, err := settings.Store(ctx, s, settings.Storage{Secret: i >= len(plain), Plaintext: i < len(plain), Path: path}, key, value)
		if err != nil {
			return err
		}
		if path {
			err = s.Settings.SetPath(key, v)
		} else {
			err = s.Settings.Set(key, v, false)
		}
		if err != nil {
			return err
		}
	}
	return s.Settings.Save()
}

func setFromJSON(ctx context.Context, s *session.Stack, file string) error {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(s.Terminal.In)
	} else {
		text, err = os.ReadFile(file)
	}
	entries := map[string]settings.Entry{}
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err != nil {
		return exit.Usagef("--json %s: %w", file, err)
	}
	for name, e := range entries {
		key, err := workspace.ParseKey(name, s.Project.Name)
		if err != nil {
			return err
		}
		if e.Value == nil {
			return exit.Usagef("--json %s: %s has no value; write it with `sluice config --json --show-secrets`", file, name)
		}
		var v workspace.Value = *e.Value
		switch {
		case e.Secret:
			enc, err := session.SettingsEncrypter(ctx, s)
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
		if err := s.Settings.Set(key, v, false); err != nil {
			return err
		}
	}
	return nil
}
