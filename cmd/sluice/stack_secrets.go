package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
)

func newStackSecretsCommand(open *session.Opener, stack *string) *cobra.Command {
	return &cobra.Command{
		Use:   "change-secrets-provider <provider>",
		Short: "Encrypt the secrets of a stack with another key",
		Long: "Encrypt the secrets of a stack, in its configuration and in its state, with another key:\n\n" +
			"  passphrase                   a new passphrase\n" +
			"  default                      the default of the backend: a passphrase, or the key of the stack at a service\n" +
			"  awskms://, azurekeyvault://,\n" +
			"  gcpkms://, hashivault://     a key in a key service\n\n" +
			"If you name the present provider, it makes a new key. The command asks for a new passphrase; without a terminal, the\n" +
			"passphrase is the first line of the standard input. Secrets in the history and in backups stay encrypted with the\n" +
			"old key.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSecretsProvider(cmd.Context(), open, *stack, args[0])
		},
	}
}

// changeSecretsProvider prepares both files before it writes either of them. It writes the state first (state.md 5.8).
func changeSecretsProvider(ctx context.Context, open *session.Opener, name, provider string) error {
	s, err := open.Stack(ctx, name, "")
	if err != nil {
		return err
	}
	if err := secrets.CheckProvider(provider, s.Session.Passphrases); err != nil {
		return exit.Usagef("%w", err)
	}
	return interrupts.Hold(ctx, open.Terminal, []backend.Lockable{s.State}, func(h *interrupts.Holder) error {
		manager, settings := s.Session.Backend.DefaultSecrets(s.Ref), secrets.Settings{}
		if provider != "default" {
			manager = nil
		}
		newKeys := s.Keys()
		if manager == nil {
			var err error
			if newKeys, err = sourceOfNewKeys(ctx, s, provider); err != nil {
				return err
			}
		}
		snapshot, err := s.State.Load(ctx)
		if err != nil {
			return err
		}
		var dec workspace.Decrypter
		if s.Settings.HasSecrets() {
			if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
				return err
			}
		}
		if manager == nil {
			if manager, settings, err = secrets.NewManager(ctx, provider, newKeys); err != nil {
				return err
			}
		}
		if err := s.Settings.Reencrypt(ctx, dec, manager.Encrypter()); err != nil {
			return err
		}
		s.Settings.SetSecrets(settings.Provider, settings.EncryptedKey, settings.Salt)
		return h.Busy(func() error {
			if err := s.State.WithSecrets(manager).Save(ctx, snapshot); err != nil {
				return err
			}
			if err := s.Settings.Save(); err != nil {
				return fmt.Errorf("the state is encrypted with the new key, the configuration still with the old one; both can be read. "+
					"Repeat the command to finish: %w", err)
			}
			_, err := fmt.Fprintf(open.Terminal.Out, "The secrets of stack '%s' are encrypted with a new key (%s).\n", s.Name(), provider)
			return err
		})
	})
}

// sourceOfNewKeys returns the source of a new passphrase. If one passphrase replaces another, it does not use the
// environment, which has the old one. If an earlier attempt was interrupted after it had written the state, the state
// already uses the new passphrase.
func sourceOfNewKeys(ctx context.Context, s *session.Stack, provider string) (secrets.Source, error) {
	rotates := secrets.IsPassphrase(provider) && secrets.IsPassphrase(s.Settings.SecretsProvider()) &&
		s.Settings.EncryptionSalt() != ""
	if !rotates {
		return s.Keys(), nil
	}
	ask := terminal.AskPassphrase(s.Session.Terminal)
	if !s.Session.Terminal.Interactive() {
		line, err := s.Session.Terminal.FirstLine(ctx)
		if err != nil && line == "" {
			return secrets.Source{}, fmt.Errorf("the new passphrase is the first line of the standard input, which is empty: %w", err)
		}
		line = strings.TrimSpace(line)
		ask = func(_ context.Context, q secrets.Question, _ string) (string, error) {
			if q == secrets.AskAgain {
				return "", secrets.ErrIncorrectPassphrase
			}
			return line, nil
		}
		recorded, err := s.State.SecretsProvider(ctx)
		if err != nil {
			return secrets.Source{}, err
		}
		if settings, _ := secrets.SettingsOf(recorded); settings.Salt != s.Settings.EncryptionSalt() {
			if err := s.Session.Passphrases.Learn(ctx, recorded, line); err != nil {
				return secrets.Source{}, err
			}
		}
	}
	none := func(string) (string, bool) { return "", false }
	return secrets.NewSource(none, ask).WithKeepers(cloud.Keepers()), nil
}
