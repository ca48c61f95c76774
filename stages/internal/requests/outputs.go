package requests

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// RegisterOutputs sets the outputs of a component whose registration is done (steps.md 9.7). Those of the root stack are kept until
// the run ends. Those of a component that failed or was skipped are ignored: its program goes on, and its failure has been
// reported.
func (m *monitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	r := m.admission.executor
	if outputs, err = property.HashAssets(ctx, outputs.DowngradeOutputs(), m.admission.Directory); err != nil {
		return fmt.Errorf("outputs of %s: %w", u, err)
	}
	s, ok := m.admission.outputs.Take(u)
	if !ok {
		if _, failed := r.Rooms.FailureOf(u); failed {
			return nil
		}
		return stages.Invalid("cannot complete a resource '%v' whose registration isn't pending", u)
	}
	if s.Kind == stages.Uncreated {
		return nil // it was not created; there is nothing to record
	}
	if s.Type == urn.RootStackType {
		m.admission.outputs.SetStack(s, outputs)
		return nil
	}
	if v := r.Plans.HoldOutputs(s, outputs); v != nil {
		return r.Control.Broken(s, v)
	}
	return r.SetOutputs(s, outputs)
}
