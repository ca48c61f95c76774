package step

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Reporter records and shows what becomes of steps: in the journal, in the rooms, and as events. It decides nothing, and nothing else writes the
// results and outcomes of steps.
type Reporter struct {
	Recorder state.Recorder // nil in previews, which record nothing
	control  *control.Control
	rooms    *rooms.Rooms
	writes   rooms.StepWriters
}

// EndCreate records that a create of an earlier run is resolved.
func (r *Reporter) EndCreate(ctx context.Context, begun *state.Resource) error {
	if r.Recorder == nil {
		return nil
	}
	if err := r.Recorder.End(ctx, state.Change{Begun: begun}); err != nil {
		return fmt.Errorf("recording that the create of %s is resolved: %w", begun.URN, err)
	}
	return nil
}

// start records and shows that a step begins.
func (r *Reporter) start(s *InProgress) (err error) {
	r.Begin(s.Decision)
	if s.begun, err = r.begin(s.Decision); err != nil {
		return r.control.Broken(s.Decision, fmt.Errorf("recording that %s of %s begins: %w", s.Decision.Op, s.Decision.URN, err))
	}
	return nil
}

// Begin records and shows that a step is being executed.
func (r *Reporter) Begin(d *stages.Decision) {
	r.writes.Outcomes.Begin(d)
	if d.Kind != stages.Provisional { // only at the end is it known whether it takes effect: see Reporter.ShowProvisional
		r.control.Emit(stages.StepStarted{Step: d.StepInfo, Planning: r.control.DryRun(), At: r.control.Now()})
	}
}

// Expect records steps that are to be executed. If the run stops before, they are listed as not reached.
func (r *Reporter) Expect(steps ...*stages.Decision) { r.writes.Outcomes.Expect(steps...) }

// Keep stores the state that a step has produced, before the step's answer.
func (r *Reporter) Keep(d *stages.Decision, final *state.Resource) {
	if r.writes.Results.Keep(d, final) && d.Answers {
		r.writes.Outputs.Open(d)
	}
}

// open allows the program to register outputs of a resource.
func (r *Reporter) open(d *stages.Decision) { r.writes.Outputs.Open(d) }

// settle records the fate of a step.
func (r *Reporter) settle(d *stages.Decision, o stages.Outcome) { r.writes.Outcomes.End(d, o) }

// markFailed records that a registration failed, or was skipped because of another one.
func (r *Reporter) markFailed(u, cause urn.URN) { r.writes.Results.MarkFailed(u, cause) }

// claim reserves the URN of a view for its owner.
func (r *Reporter) claim(view, owner urn.URN) error { return r.writes.ViewNames.Claim(view, owner) }

// setOutputs replaces and records the outputs of the state that a step has produced, and returns the new state.
func (r *Reporter) setOutputs(s *stages.Decision, outputs property.Map) (*state.Resource, error) {
	before, after := r.writes.Results.SetOutputs(s.URN, outputs)
	if r.Recorder != nil && r.rooms.Results.Current(before) != nil { // a destroy has deleted it by the time its outputs are set
		err := r.Recorder.End(r.control.Operations, state.Change{
			Replace: []state.Replacement{{Old: before, New: after}},
			Elide:   s.Old != nil && property.EqualMaps(s.Old.Outputs, outputs),
		})
		if err != nil {
			return nil, err
		}
	}
	r.writes.Outcomes.Remake(s, after)
	return after, nil
}

// KeepView stores a view that a refresh has found.
func (r *Reporter) KeepView(v *state.Resource) { r.writes.Results.AddView(v) }

// Change applies the result of a refresh to the recorded state, and writes it if record is true.
func (r *Reporter) Change(d *stages.Decision, c state.Change, record bool) error {
	r.writes.Results.Apply(c)
	if !record || r.Recorder == nil {
		return nil
	}
	if err := r.Recorder.End(r.control.Operations, c); err != nil {
		return fmt.Errorf("recording what became of %s: %w", d.URN, err)
	}
	return nil
}

// begin records that an operation is about to start; it returns nil for a step without a record.
func (r *Reporter) begin(d *stages.Decision) (*state.Resource, error) {
	if r.Recorder == nil {
		return nil, nil
	}
	op := state.Pending{Resource: d.New}
	switch d.Op {
	case stages.OpCreate, stages.OpCreateReplacement:
		op.Type = state.Creating
	case stages.OpUpdate:
		op.Type = state.Updating
	case stages.OpRead, stages.OpReadReplacement:
		op.Type = state.Reading
	case stages.OpImport, stages.OpImportReplacement:
		op.Type = state.Importing
	case stages.OpDelete, stages.OpDeleteReplaced, stages.OpDiscard, stages.OpDiscardReplaced:
		op.Type = state.Deleting
		op.Resource = d.Old
	default:
		return nil, nil
	}
	return op.Resource, r.Recorder.Begin(r.control.Operations, op)
}

// end records the result of a step.
func (r *Reporter) end(s *InProgress, a applied) error {
	r.writes.Results.Apply(a.Change)
	if r.Recorder == nil || a.Unrecorded {
		return nil
	}
	if a.Final == nil && isLost(a.Err) {
		// The outcome is uncertain, so the operation stays pending (state.md 9.4 R-7).
		r.writes.Results.KeepPending(a.Change.Begun)
		return nil
	}
	if err := r.Recorder.End(r.control.Operations, a.Change); err != nil {
		if makes(s.Decision, a.Final) {
			r.writes.Results.KeepUnwritten(a.Final) // nothing else has its ID
		}
		return err
	}
	if s.Decision.Resolves != "" && a.Final != nil {
		return r.resolve(s.Decision.Resolves)
	}
	return nil
}

// makes reports whether a step has created an object.
func makes(d *stages.Decision, made *state.Resource) bool {
	return (d.Op == stages.OpCreate || d.Op == stages.OpCreateReplacement) && made != nil && made.ID != ""
}

// resolve records that the interrupted creates of a URN are resolved.
func (r *Reporter) resolve(u urn.URN) error {
	for _, begun := range r.writes.InterruptedCreates.Resolve(u) {
		if err := r.EndCreate(r.control.Operations, begun); err != nil {
			return err
		}
	}
	return nil
}

// reportDone emits the event of a finished step and counts it (steps.md 8.3).
func (r *Reporter) reportDone(s *InProgress) {
	r.writes.Outcomes.Report(s.Decision)
	if s.Decision.Kind != stages.Provisional {
		r.showDone(s.Shown())
	}
}

func (r *Reporter) showDone(info stages.StepInfo) {
	res := info.New
	if res == nil {
		res = info.Old
	}
	if r.control.DryRun() || res.Custom || res.ViewOf != "" || info.Op == stages.OpDelete {
		r.control.Emit(stages.StepDone{Step: info, Planning: r.control.DryRun(), At: r.control.Now()})
	}
}

// ShowProvisional emits the events of states that are kept because something refers to them. It is called once, at the end of a
// run: only then is it certain that no registration continues the states, and for which resource each is kept.
func (r *Reporter) ShowProvisional() {
	for _, s := range rooms.Summarize(r.rooms).Provisional() {
		r.control.Emit(stages.StepStarted{Step: s.StepInfo, Planning: r.control.DryRun(), At: r.control.Now()})
		r.showDone(s.Shown())
	}
}

// EndFailed records and shows that a step has failed. made is the state that it has produced all the same, nil if there is none.
func (r *Reporter) EndFailed(d *stages.Decision, made *state.Resource, info stages.StepInfo, a applied) {
	r.writes.Outcomes.End(d, stages.Outcome{Fate: stages.FateFailed, Made: made})
	r.ReportFailure(d, info, a)
}

// EndFound records and shows the result of a refresh. It is counted if the whole operation is a refresh.
func (r *Reporter) EndFound(d *stages.Decision, info stages.StepInfo) {
	if r.rooms.Mode == stages.ModeRefresh {
		r.writes.Outcomes.Report(d)
	}
	r.writes.Outcomes.End(d, stages.Outcome{Fate: stages.FateDone, Found: &info})
	r.control.Emit(stages.StepDone{Step: info, Planning: r.control.DryRun(), At: r.control.Now()})
}

// ReportFailure shows a failed step.
func (r *Reporter) ReportFailure(d *stages.Decision, info stages.StepInfo, a applied) {
	code, text, at := stages.CodeFailed, a.Err.Error(), d.URN
	if r.control.DryRun() {
		code, text = stages.CodePreviewFailed, "Preview failed: "+text
	} else {
		r.control.Emit(stages.StepFailed{Step: info, Status: int(a.status), Err: a.Err, At: r.control.Now()})
	}
	if d.Internal {
		at = ""
	}
	if !a.reported {
		r.control.Diagnose(at, stages.Error, code, text, advice.Of(a.Err)...)
		r.control.Fail(d.Seq, d.URN, stages.CodeShown, a.Err)
	}
	if a.status == providers.ViewUnknown {
		r.writes.Outcomes.SetUncertain(d.URN, isLost(a.Err))
	}
}

// classify returns the status of a provider's error (steps.md 9.3).
func classify(err error) providers.ViewStatus {
	if errors.As(err, new(*providers.InitError)) {
		return providers.ViewPartialFailure
	}
	if errors.As(err, new(*providers.UncertainError)) {
		return providers.ViewUnknown
	}
	return providers.ViewOK
}

// isLost reports whether a provider was called and its answer is missing.
func isLost(err error) bool {
	if err == nil {
		return false // without the allocation
	}
	var uncertain *providers.UncertainError
	return errors.As(err, &uncertain) && uncertain.Lost
}
