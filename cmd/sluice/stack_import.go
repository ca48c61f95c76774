package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

func newStackImportCommand(open *session.Opener, stack *string) *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Replace the state of a stack by an export",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return importStack(cmd.Context(), open, *stack, file, force)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "read this file instead of the standard input")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "import the state even if it belongs to another stack or is inconsistent")
	return cmd
}

func importStack(ctx context.Context, open *session.Opener, name, file string, force bool) error {
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	var text []byte
	origin := file
	if file == "" {
		origin = "the standard input"
		text, err = open.Terminal.ReadAll(ctx)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	manager, err := session.ReplacingSecretsManager(ctx, s)
	if err != nil {
		return err
	}
	if text, err = forImport(ctx, s, manager, text); err != nil {
		return fmt.Errorf("import of %s: %w", origin, err)
	}
	warnings, err := s.State.WithSecrets(manager).Import(ctx, text, force)
	for _, w := range warnings {
		open.Terminal.Warn("%s", w)
	}
	if err != nil {
		return fmt.Errorf("import of %s: %w", origin, err)
	}
	if err := s.Settings.Save(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(open.Terminal.Out, "Import complete.")
	return err
}

// forImport decrypts the secrets of an export that Pulumi's service has encrypted with the key of another stack, which may be removed later. The
// stack then encrypts them with its own key. forImport returns other exports unchanged.
func forImport(ctx context.Context, s *session.Stack, own secrets.Manager, text []byte) ([]byte, error) {
	var export struct {
		Deployment struct {
			Secrets *struct {
				Type  string
				State json.RawMessage
			} `json:"secrets_providers"`
		}
	}
	if json.Unmarshal(text, &export) != nil || export.Deployment.Secrets == nil || export.Deployment.Secrets.Type != secrets.TypeService {
		return text, nil // the import reports the fault
	}
	var recorded bytes.Buffer
	if err := json.Compact(&recorded, export.Deployment.Secrets.State); err != nil {
		return nil, err
	}
	p := &state.SecretsProvider{Type: secrets.TypeService, State: recorded.Bytes()}
	if p.Identity() == own.Provider().Identity() {
		return text, nil
	}
	sealed, err := state.DecodeExport(ctx, text, state.DecodeOptions{Name: "the deployment"})
	if err != nil || !sealed.HasSealed() {
		return text, nil // the import reports the fault, or encrypts plain text
	}
	from, err := secrets.FromState(ctx, p, s.Keys())
	if err != nil {
		return nil, err
	}
	snapshot, err := state.DecodeExport(ctx, text, state.DecodeOptions{
		Name: "the deployment",
		Decrypter: func(context.Context, *state.SecretsProvider) (property.Decrypter, error) {
			return from.Decrypter(), nil
		},
	})
	if err != nil {
		return nil, err
	}
	snapshot.SecretsProvider = nil
	return state.NewEncoder(state.EncoderOptions{Plaintext: true}).Deployment(ctx, snapshot)
}
