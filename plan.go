package sluice

import (
	"context"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// EncodePlan returns the content of a plan file that Pulumi reads too (steps.md 12.1). Secrets are encrypted with the stack's
// manager, or in plain text if showSecrets is true; the manager may be nil for a plan without secrets.
func EncodePlan(ctx context.Context, p *state.Plan, m secrets.Manager, showSecrets bool) ([]byte, error) {
	o := state.EncoderOptions{Plaintext: showSecrets}
	if m != nil {
		o.Encrypter, o.Crypter = m.Encrypter(), m.Provider().Identity()
	}
	return state.EncodePlan(ctx, p, o)
}

// DecodePlan reads a plan file. name is the name of the file, for errors. Secrets are decrypted with the stack's manager,
// which may be nil for a plan without secrets.
func DecodePlan(ctx context.Context, name string, content []byte, m secrets.Manager) (*state.Plan, error) {
	o := state.PlanDecodeOptions{Name: name}
	if m != nil {
		o.Decrypter, o.Crypter = m.Decrypter(), m.Provider().Identity()
	}
	return state.DecodePlan(ctx, content, o)
}
