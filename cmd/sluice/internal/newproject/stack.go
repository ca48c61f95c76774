package newproject

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
)

// makeStack creates the stack and its settings, or selects the stack if it exists. The working directory is that of
// the project.
func makeStack(ctx context.Context, n *creation, written *templates.Written) error {
	if err := os.Chdir(n.directory); err != nil {
		return err
	}
	if n.options.GenerateOnly {
		return nil
	}
	in, err := n.open.Session(ctx)
	if err != nil {
		return err
	}
	ref, err := in.Resolve(n.stack)
	if err != nil {
		return err
	}
	if err := written.Remember(in.Project.StackFilePath(ref.Name)); err != nil {
		return err
	}
	s, err := in.Open(ctx, ref)
	var missing *backend.NotFoundError
	made := errors.As(err, &missing)
	switch {
	case made:
		s, err = session.Init(ctx, in, n.stack, n.options.SecretsProvider)
	case err == nil:
		err = s.ReadSettings("")
	}
	if err != nil {
		return err
	}
	if err := saveSettings(ctx, n, s); err != nil {
		if made {
			err = errors.Join(err, s.Session.Backend.Remove(ctx, s.Ref, backend.RemoveOptions{Backups: true}))
		}
		return err
	}
	fmt.Fprintf(n.terminal.Out, "Created project '%s'\n", n.project.Name)
	if made {
		fmt.Fprintf(n.terminal.Out, "Created stack '%s'\n", s.Name())
	}
	return s.Session.Selection.Select(s.Ref.String())
}

// saveSettings saves the settings of --config and of the template.
func saveSettings(ctx context.Context, n *creation, s *session.Stack) error {
	if err := n.options.Settings.Apply(s.Settings, s.Session.Project.Name); err != nil {
		return err
	}
	for _, setting := range n.template.Settings {
		key, err := workspace.ParseSettingKey(setting.Key, s.Session.Project.Name, false)
		if err != nil {
			return err
		}
		if _, set := s.Settings.Values()[key]; set {
			continue
		}
		value, err := askSetting(ctx, n, setting)
		if err != nil {
			return err
		}
		if value == "" {
			how := setting.Key
			if setting.Secret {
				how = "--secret " + how
			}
			n.terminal.Warn("the setting %s has no value yet: `sluice config set %s VALUE`", setting.Key, how)
			continue
		}
		how := settings.Storage{Secret: setting.Secret, Plaintext: !setting.Secret}
		stored, err := settings.Store(ctx, s, how, key, value)
		if err != nil {
			return err
		}
		if err := s.Settings.Set(key, stored, false); err != nil {
			return err
		}
	}
	return s.Settings.Save()
}

func askSetting(ctx context.Context, n *creation, s templates.Setting) (string, error) {
	if !n.asks {
		return s.Default, nil
	}
	question := s.Key
	if s.Description != "" {
		question = s.Description + " (" + s.Key + ")"
	}
	switch {
	case s.Secret && !s.HasDefault:
		return n.terminal.AskHidden(ctx, question+": ")
	case s.HasDefault:
		return askDefault(ctx, n, question, s.Default)
	}
	return n.terminal.Ask(ctx, question+": ")
}
