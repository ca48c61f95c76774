package stages

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// RegisterOutputs sets the outputs of a component whose registration is done (steps.md 9.7). Those of the root stack are
// kept until the run ends.
func (m *monitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	ctx, done, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	r := m.run
	if outputs, err = property.HashAssets(ctx, outputs.DowngradeOutputs(), r.Directory); err != nil {
		return fmt.Errorf("outputs of %s: %w", u, err)
	}
	s, ok := r.world.takeOpen(u)
	if !ok {
		return invalid("cannot complete a resource '%v' whose registration isn't pending", u)
	}
	if s.Kind == Uncreated {
		return nil // it was not created; there is nothing to record
	}
	if s.Type == urn.RootStackType {
		r.world.setStackOutputs(s, outputs)
		return nil
	}
	if v := r.holdOutputs(s, outputs); v != nil {
		return r.broken(s, v)
	}
	return r.setOutputs(s, outputs)
}

// setOutputs replaces the outputs of the state that s produced.
func (r *Run) setOutputs(s *Decision, outputs property.Map) error {
	r.world.mu.Lock()
	before := r.world.news[s.URN]
	after := before.Clone()
	after.Outputs = outputs
	r.world.news[s.URN] = after
	r.world.mu.Unlock()
	r.noteOutputs(s, outputs)

	if r.Recorder != nil && r.world.current(before) != nil { // a destroy has deleted it by the time its outputs are set
		c := state.Change{
			Replace: []state.Replacement{{Old: before, New: after}},
			Elide:   s.Old != nil && property.EqualMaps(s.Old.Outputs, outputs),
		}
		if err := r.Recorder.End(r.operations, c); err != nil {
			return r.broken(s, fmt.Errorf("resource complete event returned an error: %w", err))
		}
	}
	t := &taking{Decision: s, made: after}
	r.record.remake(s, after)
	if !after.Custom {
		r.afterMade(t, after, after.Outputs)
	}
	r.Emit(StepDone{Step: t.shown(), Planning: r.DryRun(), Outputs: true, At: r.Now()})
	return nil
}

func (w *world) setStackOutputs(s *Decision, outputs property.Map) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stack, w.stackOutputs = s, &outputs
}

// FinishOutputs applies the root stack's outputs at the end of a run: after a failure or an interrupt the new ones are laid
// over the old ones, so that nothing is lost (steps.md 9.7).
func (r *Run) FinishOutputs() error {
	r.world.mu.Lock()
	s, outputs := r.world.stack, r.world.stackOutputs
	r.world.mu.Unlock()
	if s == nil {
		return nil
	}
	final := *outputs
	failed := r.failures.any() || r.IsHalted()
	if failed && s.Old != nil {
		merged := s.Old.Outputs.Mutable()
		for name, v := range final.All() {
			merged[name] = v
		}
		final = property.NewMap(merged)
	}
	if !failed {
		if v := r.holdOutputs(s, final); v != nil {
			return r.broken(s, v)
		}
	}
	return r.setOutputs(s, final)
}
