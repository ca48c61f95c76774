package step

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// SetOutputs replaces the outputs of the state that s produced. Those that are unknown after an operation keep their last known
// values.
func (ex *Executor) SetOutputs(s *stages.Decision, outputs property.Map) error {
	if ex.Control.DryRun() {
		outputs = outputs.ReplaceUnavailable(func(property.Value, string) property.Value { return property.Secret(property.Computed()) })
	} else {
		outputs = ex.knownOutputs(s, outputs)
	}
	before, after := ex.writes.Results.SetOutputs(s.URN, outputs)
	ex.Plans.NoteOutputs(s, outputs)

	if ex.Recorder != nil && ex.Rooms.Results.Current(before) != nil { // a destroy has deleted it by the time its outputs are set
		c := state.Change{
			Replace: []state.Replacement{{Old: before, New: after}},
			Elide:   s.Old != nil && property.EqualMaps(s.Old.Outputs, outputs),
		}
		if err := ex.Recorder.End(ex.Control.Operations, c); err != nil {
			return ex.Control.Broken(s, fmt.Errorf("resource complete event returned an error: %w", err))
		}
	}
	t := &InProgress{Decision: s, Made: after}
	ex.writes.Outcomes.Remake(s, after)
	if !after.Custom {
		ex.caller.afterMade(t, after, after.Outputs)
	}
	ex.Control.Emit(stages.StepDone{Step: t.Shown(), Planning: ex.Control.DryRun(), Outputs: true, At: ex.Control.Now()})
	return nil
}

// knownOutputs returns outputs as they are recorded. It shows in one line those of the program that are unknown.
func (ex *Executor) knownOutputs(s *stages.Decision, outputs property.Map) property.Map {
	var last property.Map
	if s.Old != nil {
		last = s.Old.Outputs
	}
	outputs, kept, dropped := ex.Rooms.KnownOutputs(outputs, last)
	if text := unknownOutputs(kept, dropped); text != "" {
		ex.Control.Diagnose(s.URN, stages.Warning, 0, text)
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

// FinishOutputs applies the root stack's outputs at the end of a run: after a failure or an interrupt the new ones are merged
// over the old ones, so that nothing is lost (steps.md 9.7).
func (ex *Executor) FinishOutputs() error {
	s, final := ex.Rooms.Outputs.OfStack()
	if s == nil {
		return nil
	}
	failed := ex.Control.HasFailed() || ex.Control.IsHalted()
	if failed && s.Old != nil {
		merged := s.Old.Outputs.Mutable()
		for name, v := range final.All() {
			merged[name] = v
		}
		final = property.NewMap(merged)
	}
	if !failed {
		if v := ex.Plans.HoldOutputs(s, final); v != nil {
			return ex.Control.Broken(s, v)
		}
	}
	return ex.SetOutputs(s, final)
}
