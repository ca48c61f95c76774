package step

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Executor executes steps. Nothing else calls Create, Update and Delete, and nothing else writes the results and outcomes of steps.
type Executor struct {
	Control        *control.Control
	Rooms          *rooms.Rooms
	writes         rooms.StepWriters
	access         *access.Access
	Plans          *plan.Plans
	caller         *caller
	Recorder       state.Recorder // nil in previews, which record nothing
	tokens         *tokens
	MonitorAddress func() (string, error)
}

// NewExecutor returns the executor of a run.
func NewExecutor(c *control.Control, b *rooms.Rooms, w rooms.StepWriters, a *access.Access, p *plan.Plans, s stages.Settings, h *HookSet) *Executor {
	return &Executor{
		Control: c, Rooms: b, writes: w, access: a, Plans: p, Recorder: s.Recorder, tokens: &tokens{}, MonitorAddress: s.MonitorAddress,
		caller: &caller{control: c, hooks: h, keepGoing: s.ContinueOnError},
	}
}

// On returns an executor of the same run that works with other rooms.
func (ex *Executor) On(b *rooms.Rooms, w rooms.StepWriters, a *access.Access, p *plan.Plans) *Executor {
	other := *ex
	other.Rooms, other.writes, other.access, other.Plans = b, w, a, p
	return &other
}

// EndCreate records that a create of an earlier run is resolved.
func (ex *Executor) EndCreate(ctx context.Context, begun *state.Resource) error {
	if ex.Recorder == nil {
		return nil
	}
	if err := ex.Recorder.End(ctx, state.Change{Begun: begun}); err != nil {
		return fmt.Errorf("recording that the create of %s is resolved: %w", begun.URN, err)
	}
	return nil
}

// InProgress is one decision while it is being executed, by one goroutine.
type InProgress struct {
	*stages.Decision
	Publication *publication    // takes in the views that the provider of the step publishes
	begun       *state.Resource // the pending record
	Made        *state.Resource // the state that the step has produced
	ended       ended           // how it has ended
	// orphaned is true for a view whose resource is not recorded under this name after its step, so that nothing can be recorded
	// below it: the resource was not created, or it could not be updated and keeps its former name.
	orphaned bool
}

// Shown returns the step as events report it.
func (s *InProgress) Shown() stages.StepInfo {
	info := s.StepInfo
	if s.Made != nil {
		info.New = s.Made
	}
	return info
}

// applied is the result of a step.
type applied struct {
	// Unrecorded is true for a step that does not change the record.
	Unrecorded bool
	Final      *state.Resource // the state it produced, nil if none
	Change     state.Change
	Err        error // the error of a failed step
	reported   bool  // the failure has been shown
	status     int   // of a failure: 0 nothing happened, 1 the resource exists, 2 unknown
}

// ended is the end of a step.
type ended struct {
	reply   *stages.RegisterReply // to the registration, nil if the step gives none
	stopped bool                  // a hook after the step has stopped the run
}

// ExecuteStep executes one step (steps.md 9.2). The caller gives the reply.
func (ex *Executor) ExecuteStep(d *stages.Decision) (ended, error) {
	s := &InProgress{Decision: ex.withProvider(d)}
	if err := ex.start(s); err != nil {
		return ended{}, err
	}
	err := ex.endStep(s, ex.attempt(s))
	return s.ended, err
}

// start records and shows that a step begins.
func (ex *Executor) start(s *InProgress) (err error) {
	ex.Begin(s.Decision)
	if s.begun, err = ex.begin(s.Decision); err != nil {
		return ex.Control.Broken(s.Decision, fmt.Errorf("recording that %s of %s begins: %w", s.Op, s.URN, err))
	}
	return nil
}

// Begin records and shows that a step is being executed.
func (ex *Executor) Begin(d *stages.Decision) {
	ex.writes.Outcomes.Begin(d)
	if d.Kind != stages.Provisional { // only at the end is it known whether it takes effect: see Executor.ShowProvisional
		ex.Control.Emit(stages.StepStarted{Step: d.StepInfo, Planning: ex.Control.DryRun(), At: ex.Control.Now()})
	}
}

// Expect records steps that are to be executed. If the run stops before, they are listed as not reached.
func (ex *Executor) Expect(steps ...*stages.Decision) { ex.writes.Outcomes.Expect(steps...) }

// Keep stores the state that a step has produced, before the step's answer.
func (ex *Executor) Keep(d *stages.Decision, final *state.Resource) {
	if ex.writes.Results.Keep(d, final) && d.Answers {
		ex.writes.Outputs.Open(d)
	}
}

// KeepView stores a view that a refresh has found.
func (ex *Executor) KeepView(v *state.Resource) { ex.writes.Results.AddView(v) }

// Change applies the result of a refresh to the recorded state, and writes it if record is true.
func (ex *Executor) Change(d *stages.Decision, c state.Change, record bool) error {
	ex.writes.Results.Apply(c)
	if !record || ex.Recorder == nil {
		return nil
	}
	if err := ex.Recorder.End(ex.Control.Operations, c); err != nil {
		return fmt.Errorf("recording what became of %s: %w", d.URN, err)
	}
	return nil
}

// endStep keeps and records the result of a step, and executes the view steps that were published meanwhile.
func (ex *Executor) endStep(s *InProgress, a applied) error {
	a.Change.Begun = s.begun
	var returned property.Map
	if a.Final != nil {
		returned = a.Final.Outputs
		if !a.Unrecorded {
			a.Final = ex.MarkSecrets(a.Final)
			a.Change.Add, a.Change.Extension = a.Final, ex.access.Extensions.Recorded(a.Final.ExtensionRef)
			a.Change.Remove = append(a.Change.Remove, ex.Rooms.Awaiting(a.Final.URN)...)
		}
		s.Made = a.Final
		ex.Keep(s.Decision, a.Final)
	}
	if s.Kind == stages.Uncreated {
		ex.writes.Outputs.Open(s.Decision)
	}
	early := stages.Removes(s.Op) && s.View == nil
	if early {
		// Views are removed before the resource that they belong to.
		if err := ex.executeViews(s, a); err != nil && a.Err == nil {
			a = applied{Change: state.Change{Begun: s.begun}, Err: err, reported: true}
		}
	}
	if err := ex.end(s, a); err != nil {
		return ex.Control.Broken(s.Decision, fmt.Errorf("recording the end of %s of %s: %w", s.Op, s.URN, err))
	}
	if a.Err != nil {
		ex.EndFailed(s.Decision, s.Made, s.Shown(), a)
	} else {
		ex.writes.Outcomes.End(s.Decision, stages.Outcome{Fate: stages.FateDone, Made: s.Made})
		ex.caller.after(s, a.Final, returned)
		ex.reportDone(s)
	}
	if !early && s.View == nil {
		if err := ex.executeViews(s, a); err != nil && a.Err == nil {
			return err
		}
	}
	if s.Answers && (a.Err == nil || s.IsRead() && s.Made != nil) { // a read that is not healthy fails and is answered (steps.md 4.1)
		s.ended.reply = ex.replyTo(s)
	}
	return a.Err
}

// attempt runs the hooks before a step and the step itself.
func (ex *Executor) attempt(s *InProgress) applied {
	if s.View != nil {
		return ex.ApplyView(s)
	}
	if err := ex.caller.before(s.Decision); err != nil {
		return Failed(err)
	}
	if s.Op != stages.OpSame && s.Op != stages.OpReplace {
		s.Publication = ex.PublicationFor(s.Decision, false)
	}
	return ex.apply(s)
}

// begin records that an operation is about to start; it returns nil for a step without a record.
func (ex *Executor) begin(d *stages.Decision) (*state.Resource, error) {
	if ex.Recorder == nil {
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
	return op.Resource, ex.Recorder.Begin(ex.Control.Operations, op)
}

// end records the result of a step.
func (ex *Executor) end(s *InProgress, a applied) error {
	ex.writes.Results.Apply(a.Change)
	if ex.Recorder == nil || s.Op == stages.OpReplace || a.Unrecorded {
		return nil
	}
	if a.Final == nil && isLost(a.Err) {
		// The outcome is uncertain, so the operation stays pending (state.md 9.4 R-7).
		ex.writes.Results.KeepPending(a.Change.Begun)
		return nil
	}
	if err := ex.Recorder.End(ex.Control.Operations, a.Change); err != nil {
		if makes(s.Decision, a.Final) {
			ex.writes.Results.KeepUnwritten(a.Final) // nothing else has its ID
		}
		return err
	}
	if s.Resolves != "" && a.Final != nil {
		return ex.resolve(s.Resolves)
	}
	return nil
}

// makes reports whether a step has created an object.
func makes(d *stages.Decision, made *state.Resource) bool {
	return (d.Op == stages.OpCreate || d.Op == stages.OpCreateReplacement) && made != nil && made.ID != ""
}

// resolve records that the interrupted creates of a URN are resolved.
func (ex *Executor) resolve(u urn.URN) error {
	for _, begun := range ex.writes.InterruptedCreates.Resolve(u) {
		if err := ex.EndCreate(ex.Control.Operations, begun); err != nil {
			return err
		}
	}
	return nil
}
