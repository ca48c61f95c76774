package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/state/secrets"
)

func newConfigRefreshCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Replace the settings by those of the last operation",
		Long: "Replace the settings of the stack by those of its last operation, and the parameters of its secrets by those in its\n" +
			"state. Without --force, the present file is kept, with .bak at the end of its name.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return refreshConfig(cmd.Context(), open, f, force) },
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "keep no copy of the present file")
	return cmd
}

func refreshConfig(ctx context.Context, open *session.Opener, f *flags.Stack, force bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	updates, _, err := s.State.History(ctx)
	if err != nil {
		return err
	}
	if len(updates) == 0 {
		return fmt.Errorf("stack '%s' has no history to take its settings from", s.Name())
	}
	values, err := workspace.RecordedSettings(s.Session.Project.Name, updates[0].Config)
	if err != nil {
		return err
	}
	recorded, err := s.State.SecretsProvider(ctx)
	if err != nil {
		return err
	}
	if s.Settings.Exists() && !force {
		if err := keepCopy(open.Terminal.Out, s.Settings.Path); err != nil {
			return err
		}
	}
	if err := s.Settings.Replace(values); err != nil {
		return err
	}
	if names := operate.EnvironmentsOf(updates[0].Environment); len(names) > 0 {
		if err := s.Settings.Environments.Set(names); err != nil {
			return err
		}
	}
	if settings, known := secrets.SettingsOf(recorded); known {
		s.Settings.SetSecrets(settings.Provider, settings.EncryptedKey, settings.Salt)
	}
	if err := s.Settings.Save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(open.Terminal.Out, "refreshed configuration for stack '%s'\n", s.Name())
	return err
}

// keepCopy copies a file to the first unused name that ends in .bak.
func keepCopy(out io.Writer, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for backup := path + ".bak"; ; backup += ".bak" {
		file, err := private.Create(backup, private.File)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		if err = errors.Join(err, file.Close()); err == nil {
			fmt.Fprintf(out, "backed up existing configuration file to %s\n", backup)
		}
		return err
	}
}
