package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
)

func newPreviewCommand(open *session.Opener) *cobra.Command {
	f := &flags.Operation{}
	var importFile string
	cmd := &cobra.Command{
		Use:     "preview",
		Aliases: []string{"pre"},
		Short:   "Show what `up` would do",
		Long: "Run the program and show what `up` would do. Nothing is changed.\n\n" +
			"With --save-plan FILE, the preview writes a plan. `up --plan FILE` then does what the plan contains and nothing more.\n\n" +
			"The exit status is 0 if the preview succeeds. With --expect-no-changes it is 7 if there would be changes.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.PreviewOnly = true
			return preview(cmd.Context(), open, f, importFile)
		},
	}
	f.AddUpdate(cmd.Flags())
	flags.AddTiming(cmd.Flags())
	f.Reports.Add(cmd.Flags())
	f.Plan.AddSave(cmd.Flags())
	f.Outputs.Add(cmd.Flags())
	flags.AddFile(cmd.Flags(), &importFile, "import-file", "write a file for the command import with the resources that would be created; add their IDs")
	return cmd
}

func preview(ctx context.Context, open *session.Opener, f *flags.Operation, importFile string) error {
	s, job, err := prepareUpdate(ctx, open, f)
	if err != nil {
		return err
	}
	succeeded := false
	job.AfterPreview = func(ctx context.Context, r *sluice.Result) error {
		succeeded = true
		if err := writeImportFile(ctx, s, importFile, r); err != nil {
			return err
		}
		if err := operate.SaveOutputs(ctx, job, r); err != nil {
			return err
		}
		return operate.SavePlan(ctx, job, r)
	}
	err = operate.Run(ctx, job)
	if !succeeded {
		for _, path := range []string{importFile, f.Outputs.Save, f.Plan.Save} {
			if path != "" {
				s.Session.Terminal.Warn("%s was not written, because the preview did not succeed", path)
			}
		}
	}
	return err
}

// writeImportFile writes the file of --import-file, for `sluice import`, with the resources that the preview would
// create.
func writeImportFile(ctx context.Context, s *session.Stack, path string, r *sluice.Result) error {
	if path == "" {
		return nil
	}
	file, warnings, err := importfile.Placeholders(ctx, r.Steps(), lateEncrypter{s})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		s.Session.Terminal.Warn("%s", w)
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

// lateEncrypter opens the secrets manager at the first secret to encrypt. Most files have none, so that the command
// needs no passphrase.
type lateEncrypter struct{ stack *session.Stack }

func (e lateEncrypter) Encrypt(ctx context.Context, text string) (string, error) {
	m, err := session.SecretsManager(ctx, e.stack)
	if err != nil {
		return "", err
	}
	return m.Encrypter().Encrypt(ctx, text)
}

var _ property.Encrypter = lateEncrypter{}
