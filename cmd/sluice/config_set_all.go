package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

func newConfigSetAllCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var plain, secret []string
	var path bool
	var given string
	cmd := &cobra.Command{
		Use:   "set-all --plaintext key=value --secret key=value ...",
		Short: "Set several settings, all or none of them",
		Long: "Set several settings, all or none of them. --json takes what `sluice config --json` writes: the JSON itself, the name\n" +
			"of a file, or - for the standard input. Keys in JSON are not paths. Quote a key that contains =: '\"a=b\"=value'.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setAllConfig(cmd.Context(), open, f, plain, secret, given, path)
		},
	}
	cmd.Flags().StringArrayVar(&plain, "plaintext", nil, "store this value in plain text: key=value")
	cmd.Flags().StringArrayVar(&secret, "secret", nil, "encrypt this value: key=value")
	cmd.Flags().StringVar(&given, "json", "", "settings as config --json writes them: JSON, or the name of a file that has it")
	cmd.Flags().BoolVar(&path, "path", false, "keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func setAllConfig(ctx context.Context, open *session.Opener, f *flags.Stack, plain, secret []string, given string, path bool) error {
	if given != "" && (path || len(plain)+len(secret) > 0) {
		return exit.Usagef("--json cannot be used with --plaintext, --secret or --path")
	}
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	before := maps.Clone(s.Settings.Values())
	if given != "" {
		if err := setFromJSON(ctx, s, given); err != nil {
			return err
		}
	}
	for i, setting := range append(append([]string{}, plain...), secret...) {
		text, value, found := cutSetting(setting)
		if !found {
			return exit.Usagef("%q is not of the form key=value", setting)
		}
		key, err := workspace.ParseSettingKey(text, s.Session.Project.Name, path)
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
	return settings.Save(ctx, s, before)
}

// cutSetting separates the key of a setting from its value. A key in quotation marks may contain "=".
func cutSetting(setting string) (key, value string, found bool) {
	if setting == "" || !strings.Contains(`"'`, setting[:1]) {
		return strings.Cut(setting, "=")
	}
	return strings.Cut(setting[1:], setting[:1]+"=")
}

// setFromJSON sets settings from JSON: from the text itself, or from the file or stream that it names.
func setFromJSON(ctx context.Context, s *session.Stack, given string) error {
	text, source, err := readJSON(ctx, s.Session.Terminal, given)
	var entries map[string]settings.Entry
	if err == nil {
		entries, err = decodeSettings(text)
	}
	if err != nil {
		return exit.Usagef("%s: %w", source, err)
	}
	if err := prepareSecrets(ctx, s, entries); err != nil {
		return err
	}
	for name, e := range entries {
		key, err := workspace.ParseKey(name, s.Session.Project.Name)
		if err != nil {
			return err
		}
		if e.Value == nil {
			return exit.Usagef("%s: %s has no value; write it with `sluice config --json --show-secrets`", source, name)
		}
		if err := workspace.RefuseMark(key, *e.Value); err != nil {
			return err
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

// prepareSecrets encrypts the secret entries in few calls.
func prepareSecrets(ctx context.Context, s *session.Stack, entries map[string]settings.Entry) error {
	var texts []string
	for _, e := range entries {
		if e.Secret && e.Value != nil {
			texts = append(texts, *e.Value)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	enc, err := session.SettingsEncrypter(ctx, s)
	if err != nil {
		return err
	}
	return secrets.EncryptAhead(ctx, enc, texts)
}

// decodeSettings decodes settings, and keeps numbers as they are written.
func decodeSettings(text []byte) (entries map[string]settings.Entry, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err = dec.Decode(&entries); err != nil {
		return nil, fmt.Errorf("invalid JSON, which must be as `sluice config --json` writes it: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the end of the JSON")
	}
	return entries, nil
}

// readJSON returns the text given or named by --json, and its name for messages. The text may contain secrets.
func readJSON(ctx context.Context, t *terminal.Terminal, given string) (text []byte, source string, err error) {
	switch {
	case strings.HasPrefix(strings.TrimSpace(given), "{"):
		return []byte(given), "--json", nil
	case given == "-":
		text, err = t.ReadAll(ctx)
	default:
		text, err = os.ReadFile(given)
	}
	return text, "--json " + given, err
}
