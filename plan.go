package sluice

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// EncodePlan returns the content of a plan file that Pulumi reads too (steps.md 12.1). Secrets are encrypted with the stack's
// manager, or in plain text if showSecrets is true; a nil manager will do for a plan without secrets.
func EncodePlan(ctx context.Context, p *state.Plan, m secrets.Manager, showSecrets bool) ([]byte, error) {
	o := state.EncoderOptions{Plaintext: showSecrets}
	if m != nil {
		o.Encrypter, o.Crypter = m.Encrypter(), m.Provider().Identity()
	}
	return state.EncodePlan(ctx, p, o)
}

// DecodePlan reads a plan file. name is the file's, for errors. Secrets are decrypted with the stack's manager, which may be
// nil for a plan without secrets.
func DecodePlan(ctx context.Context, name string, content []byte, m secrets.Manager) (*state.Plan, error) {
	o := state.PlanDecodeOptions{Name: name}
	if m != nil {
		o.Decrypter, o.Crypter = m.Decrypter(), m.Provider().Identity()
	}
	return state.DecodePlan(ctx, content, o)
}

// checkPlan refuses a plan in which nothing is about the stack.
func (s *session) checkPlan() error {
	p, o := s.plan(), s.options
	if p == nil || len(p.Resources) == 0 {
		return nil
	}
	for u := range p.Resources {
		if u.Stack() == o.Stack && u.Project() == o.Project {
			return nil
		}
	}
	other := slices.Min(slices.Collect(maps.Keys(p.Resources)))
	return fmt.Errorf("the plan is for stack %s of project %s, and not for stack %s of project %s; make one for this stack",
		other.Stack(), other.Project(), o.Stack, o.Project)
}

// plan is what the operation is held to.
func (s *session) plan() *state.Plan {
	if !s.op.plans() {
		return nil
	}
	return s.options.Plan
}

func (s *session) makesPlan() bool { return s.options.MakePlan && s.op.plans() }

// plans tells whether there are plans for the operation: for updates and their previews.
func (o operation) plans() bool { return o.mode == stages.ModeUpdate && !o.isImport() }

func (s *session) madePlan() *state.Plan {
	if !s.makesPlan() {
		return nil
	}
	return &state.Plan{
		Manifest:  state.Manifest{Time: s.options.Now(), Magic: state.Magic(manifestVersion), Version: manifestVersion},
		Resources: s.deployment.Planned(),
	}
}
