package step

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// Outputs replaces the outputs of steps that have ended: those of components and of the stack.
type Outputs struct {
	control  *control.Control
	rooms    *rooms.Rooms
	reporter *Reporter
	plans    *plan.Plans
	caller   *caller
}

// Register sets the outputs of a component if the plan of the run allows them.
func (o *Outputs) Register(s *stages.Decision, outputs property.Map) error {
	if v := o.plans.HoldOutputs(s, outputs); v != nil {
		return o.control.Broken(s, v)
	}
	return o.set(s, outputs)
}

// set replaces the outputs of the state that s produced. Those that are unknown after an operation keep their last known
// values.
func (o *Outputs) set(s *stages.Decision, outputs property.Map) error {
	if o.control.DryRun() {
		outputs = outputs.ReplaceUnavailable(func(property.Value, string) property.Value { return property.Secret(property.Computed()) })
	} else {
		outputs = o.known(s, outputs)
	}
	o.plans.NoteOutputs(s, outputs)
	after, err := o.reporter.setOutputs(s, outputs)
	if err != nil {
		return o.control.Broken(s, fmt.Errorf("resource complete event returned an error: %w", err))
	}
	t := &InProgress{Decision: s, Made: after}
	if !after.Custom {
		o.caller.afterMade(t, after, after.Outputs)
	}
	o.control.Emit(stages.StepDone{Step: t.Shown(), Planning: o.control.DryRun(), Outputs: true, At: o.control.Now()})
	return nil
}

// known returns outputs as they are recorded. It shows in one line those of the program that are unknown.
func (o *Outputs) known(s *stages.Decision, outputs property.Map) property.Map {
	var last property.Map
	if s.Old != nil {
		last = s.Old.Outputs
	}
	outputs, kept, dropped := rooms.KnownOutputs(o.rooms, outputs, last)
	if text := unknownOutputs(kept, dropped); text != "" {
		o.control.Diagnose(s.URN, stages.Warning, 0, text)
	}
	return outputs
}

// unknownOutputs describes how unknown outputs are recorded, "" if there are none.
func unknownOutputs(kept, dropped []string) string {
	var parts []string
	if len(kept) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s", quoted(kept), plural(kept, "keeps its last known value", "keep their last known values")))
	}
	if len(dropped) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s", quoted(dropped), plural(dropped, "has none and is not recorded", "have none and are not recorded")))
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s not known after this operation: %s", plural(append(kept, dropped...), "an output is", "outputs are"), strings.Join(parts, "; "))
}

func quoted(names []string) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = strconv.Quote(n)
	}
	return strings.Join(texts, ", ")
}

func plural(names []string, one, many string) string {
	if len(names) == 1 {
		return one
	}
	return many
}

// FailComponent records that a preview could not construct a remote component.
func (o *Outputs) FailComponent(u urn.URN) { o.reporter.markFailed(u, u) }

// Finish applies the root stack's outputs at the end of a run: after a failure or an interrupt the new ones are merged
// over the old ones, so that nothing is lost (steps.md 9.7).
func (o *Outputs) Finish() error {
	s, final := o.rooms.Outputs.OfStack()
	if s == nil {
		return nil
	}
	failed := o.control.HasFailed() || o.control.IsHalted()
	if failed && s.Old != nil {
		merged := s.Old.Outputs.Mutable()
		for name, v := range final.All() {
			merged[name] = v
		}
		final = property.NewMap(merged)
	}
	if failed {
		return o.set(s, final)
	}
	return o.Register(s, final)
}
