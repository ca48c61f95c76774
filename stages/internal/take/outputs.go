package take

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// SetOutputs replaces the outputs of the state that s produced.
func (r *Taker) SetOutputs(s *stages.Decision, outputs property.Map) error {
	before, after := r.Results.SetOutputs(s.URN, outputs)
	r.NoteOutputs(s, outputs)

	if r.Recorder != nil && r.Results.Current(before) != nil { // a destroy has deleted it by the time its outputs are set
		c := state.Change{
			Replace: []state.Replacement{{Old: before, New: after}},
			Elide:   s.Old != nil && property.EqualMaps(s.Old.Outputs, outputs),
		}
		if err := r.Recorder.End(r.Operations, c); err != nil {
			return r.Broken(s, fmt.Errorf("resource complete event returned an error: %w", err))
		}
	}
	t := &Taking{Decision: s, Made: after}
	r.Record.Remake(s, after)
	if !after.Custom {
		r.afterMade(t, after, after.Outputs)
	}
	r.Emit(stages.StepDone{Step: t.Shown(), Planning: r.DryRun(), Outputs: true, At: r.Now()})
	return nil
}

// FinishOutputs applies the root stack's outputs at the end of a run: after a failure or an interrupt the new ones are merged
// over the old ones, so that nothing is lost (steps.md 9.7).
func (r *Taker) FinishOutputs() error {
	s, final := r.Results.TakeStackOutputs()
	if s == nil {
		return nil
	}
	failed := r.HasFailed() || r.IsHalted()
	if failed && s.Old != nil {
		merged := s.Old.Outputs.Mutable()
		for name, v := range final.All() {
			merged[name] = v
		}
		final = property.NewMap(merged)
	}
	if !failed {
		if v := r.HoldOutputs(s, final); v != nil {
			return r.Broken(s, v)
		}
	}
	return r.SetOutputs(s, final)
}
