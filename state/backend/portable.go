package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
)

// Export implements [Stack].
func (s *fileStack) Export(ctx context.Context, showSecrets bool) ([]byte, error) {
	in, err := s.reader.read(ctx, s.stackFiles)
	if err != nil {
		return nil, err
	}
	return s.export(ctx, in.content, in.name, showSecrets)
}

// ExportVersion implements [Stack].
func (s *fileStack) ExportVersion(ctx context.Context, version int, showSecrets bool) ([]byte, error) {
	content, name, err := history{s.stackFiles}.version(ctx, version)
	if err != nil {
		return nil, err
	}
	return s.export(ctx, content, name, showSecrets)
}

// export converts the content of a stack file.
func (s *fileStack) export(ctx context.Context, content []byte, name string, showSecrets bool) ([]byte, error) {
	if !showSecrets {
		out, err := state.ReexportCheckpoint(content, name)
		if err != nil {
			return nil, s.explain(ctx, name, err)
		}
		return out, nil
	}
	snapshot, err := s.decode(ctx, content, name, s.seal().Decrypter)
	if err != nil {
		return nil, err
	}
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	return state.NewEncoder(state.EncoderOptions{Plaintext: true}).Deployment(ctx, snapshot)
}

// errDangerous ends the list of problems of an import.
var errDangerous = advice.With(errors.New("importing this file could be dangerous"), advice.On(advice.ImportAnyway))

// Import implements [Stack] (state.md 7.6). An export with ciphertexts keeps them, and the provider that it names encrypts the
// plain secrets beside them. An export without ciphertexts needs no provider of its own: this stack's provider encrypts its
// secrets.
func (s *fileStack) Import(ctx context.Context, export []byte, force bool) (warnings []string, err error) {
	snapshot, err := state.DecodeExport(ctx, export, state.DecodeOptions{Name: "the deployment"})
	switch { // scripts look for the words of the first two
	case errors.Is(err, state.ErrTooOld):
		return nil, fmt.Errorf("the stack '%s' is too old: %w", s.ref.Name, err)
	case errors.Is(err, state.ErrVersion):
		return nil, fmt.Errorf("the stack '%s' is newer than what this version of the Pulumi CLI understands: %w", s.ref.Name, err)
	case err != nil:
		return nil, err
	}
	var problems []error
	for _, r := range snapshot.Resources {
		if r.URN.Stack() != s.ref.Name {
			problems = append(problems, fmt.Errorf("resource '%s' refers to a different stack name (%s)", r.URN, r.URN.Stack()))
		}
	}
	if err := state.Verify(snapshot); err != nil {
		problems = append(problems, err)
	} else if err := state.VerifyNames(snapshot); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 && !force {
		return nil, errors.Join(append(problems, errDangerous)...)
	}
	for _, p := range problems {
		warnings = append(warnings, p.Error())
	}
	for _, op := range snapshot.Pending {
		warnings = append(warnings, fmt.Sprintf("removing pending operation '%s' on '%s'", op.Type, op.Resource.URN))
	}
	snapshot.Pending = nil

	// The present state of the stack is replaced, whatever it is.
	unlock, err := s.Lock(ctx, LockOptions{Operation: "stack import"})
	if err != nil {
		return nil, err
	}
	into := *s
	if snapshot.HasSealed() {
		into.secrets = nil // the ciphertexts belong to the provider that came with them
	} else if s.secrets != nil {
		snapshot.SecretsProvider = nil // nothing in the export is encrypted
	} else if present, err := s.SecretsProvider(ctx); err == nil && present != nil {
		snapshot.SecretsProvider = present
	}
	return warnings, errors.Join(into.save(ctx, snapshot, func() error { return nil }), unlock.Close())
}
