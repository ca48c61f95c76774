package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/property"
)

// lateEncrypter opens the secrets manager when there is a secret to encrypt: most files have none, and no passphrase is
// asked for them.
type lateEncrypter struct{ session *session }

func (e lateEncrypter) Encrypt(ctx context.Context, text string) (string, error) {
	m, err := e.session.secretsManager(ctx)
	if err != nil {
		return "", err
	}
	return m.Encrypter().Encrypt(ctx, text)
}

var _ property.Encrypter = lateEncrypter{}

// writeImportFile writes what --import-file asks for: a file for `sluice import` with what the preview would create.
func (o *operation) writeImportFile(ctx context.Context, path string, r *sluice.Result) error {
	if path == "" {
		return nil
	}
	file, warnings, err := importfile.Placeholders(ctx, r.Steps, lateEncrypter{o.session})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		o.cli.Warn("%s", w)
	}
	var text bytes.Buffer
	if err := file.Write(&text); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write the import file: %w", err)
	}
	return nil
}
