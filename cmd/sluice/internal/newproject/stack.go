package newproject

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
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
			err = errors.Join(err, s.Backend.Remove(ctx, s.Ref, backend.RemoveOptions{Backups: true}))
		}
		return err
	}
	fmt.Fprintf(n.terminal.Out, "Created project '%s'\n", n.project.Name)
	if made {
		fmt.Fprintf(n.terminal.Out, "Created stack '%s'\n", s.Name())
	}
	return s.Selection.Select(s.Ref.String())
}
