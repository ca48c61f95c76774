package take

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Taker takes steps. Nothing else calls Create, Update and Delete, and nothing else writes what has become of steps.
type Taker struct {
	Control        *control.Control
	Book           *book.Book
	writes         book.StepWriters
	access         *access.Access
	Plans          *plan.Plans
	caller         *caller
	Recorder       state.Recorder // nil in previews, which record nothing
	tokens         *tokens
	MonitorAddress func() (string, error)
}

// NewTaker returns the taker of a run.
func NewTaker(c *control.Control, b *book.Book, w book.StepWriters, a *access.Access, p *plan.Plans, s stages.Settings, h *HookSet) *Taker {
	return &Taker{
		Control: c, Book: b, writes: w, access: a, Plans: p, Recorder: s.Recorder, tokens: &tokens{}, MonitorAddress: s.MonitorAddress,
		caller: &caller{control: c, hooks: h, keepGoing: s.ContinueOnError},
	}
}

// On returns the taker that works with another book of the same run.
func (tk *Taker) On(b *book.Book, w book.StepWriters, a *access.Access, p *plan.Plans) *Taker {
	other := *tk
	other.Book, other.writes, other.access, other.Plans = b, w, a, p
	return &other
}

// EndCreate records that a create of an earlier run is resolved.
func (tk *Taker) EndCreate(ctx context.Context, begun *state.Resource) error {
	if tk.Recorder == nil {
		return nil
	}
	if err := tk.Recorder.End(ctx, state.Change{Begun: begun}); err != nil {
		return fmt.Errorf("recording that the create of %s is resolved: %w", begun.URN, err)
	}
	return nil
}

// Taking is one decision while it is being taken, by one goroutine.
type Taking struct {
	*stages.Decision
	Publication *publication    // takes in the views that the step's provider publishes
	begun       *state.Resource // what was recorded as pending
	Made        *state.Resource // what the step has produced
	taken       taken           // how it has ended
	// orphaned is true for a view whose resource is not recorded under this name after its step, so that nothing can be recorded
	// below it: the resource was not created, or it could not be updated and goes by its former name.
	orphaned bool
}

// Shown is the step as events report it.
func (s *Taking) Shown() stages.StepInfo {
	info := s.StepInfo
	if s.Made != nil {
		info.New = s.Made
	}
	return info
}

// applied is what a step did.
type applied struct {
	// Unrecorded is true for a step after which the record is what it was.
	Unrecorded bool
	Final      *state.Resource // the state it produced, nil if none
	Change     state.Change
	Err        error // why it failed
	reported   bool  // the failure has been shown
	status     int   // of a failure: 0 nothing happened, 1 the resource exists, 2 unknown
}

// taken is how a step has ended.
type taken struct {
	reply   *stages.RegisterReply // to the registration, nil if the step gives none
	stopped bool                  // a hook after the step has stopped the run
}

// RunStep takes one step (steps.md 9.2). The caller gives the reply.
func (tk *Taker) RunStep(d *stages.Decision) (taken, error) {
	s := &Taking{Decision: tk.withProvider(d)}
	if err := tk.start(s); err != nil {
		return taken{}, err
	}
	err := tk.conclude(s, tk.attempt(s))
	return s.taken, err
}

// start shows that a step begins, and records that.
func (tk *Taker) start(s *Taking) (err error) {
	tk.Begin(s.Decision)
	if s.begun, err = tk.begin(s.Decision); err != nil {
		return tk.Control.Broken(s.Decision, fmt.Errorf("recording that %s of %s begins: %w", s.Op, s.URN, err))
	}
	return nil
}

// Begin records that a step is being taken, and shows that.
func (tk *Taker) Begin(d *stages.Decision) {
	tk.writes.Outcomes.Begin(d)
	if d.Kind != stages.Provisional { // whether it stands is known at the end: see Taker.ShowProvisional
		tk.Control.Emit(stages.StepStarted{Step: d.StepInfo, Planning: tk.Control.DryRun(), At: tk.Control.Now()})
	}
}

// Expect records steps that are to be taken: if the run stops before, they are listed as not reached.
func (tk *Taker) Expect(steps ...*stages.Decision) { tk.writes.Outcomes.Expect(steps...) }

// Keep stores the state that a step has produced, before the step's answer.
func (tk *Taker) Keep(d *stages.Decision, final *state.Resource) {
	if tk.writes.Results.Keep(d, final) && d.Answers {
		tk.writes.Outputs.Open(d)
	}
}

// KeepView stores a view that a refresh has found.
func (tk *Taker) KeepView(v *state.Resource) { tk.writes.Results.AddView(v) }

// Change applies what a refresh has found to what is recorded, and writes it if record is true.
func (tk *Taker) Change(d *stages.Decision, c state.Change, record bool) error {
	tk.writes.Results.Apply(c)
	if !record || tk.Recorder == nil {
		return nil
	}
	if err := tk.Recorder.End(tk.Control.Operations, c); err != nil {
		return fmt.Errorf("recording what became of %s: %w", d.URN, err)
	}
	return nil
}

// conclude keeps and records what a step did, and carries out the view steps that were published meanwhile.
func (tk *Taker) conclude(s *Taking, a applied) error {
	a.Change.Begun = s.begun
	var returned property.Map
	if a.Final != nil {
		returned = a.Final.Outputs
		if !a.Unrecorded {
			a.Final = tk.MarkSecrets(a.Final)
			a.Change.Add, a.Change.Extension = a.Final, tk.access.Extensions.Recorded(a.Final.ExtensionRef)
			a.Change.Remove = append(a.Change.Remove, tk.Book.Awaiting(a.Final.URN)...)
		}
		s.Made = a.Final
		tk.Keep(s.Decision, a.Final)
	}
	if s.Kind == stages.Uncreated {
		tk.writes.Outputs.Open(s.Decision)
	}
	early := stages.Removes(s.Op) && s.View == nil
	if early {
		// Views are removed before what they belong to.
		if err := tk.takeViews(s, a); err != nil && a.Err == nil {
			a = applied{Change: state.Change{Begun: s.begun}, Err: err, reported: true}
		}
	}
	if err := tk.end(s, a); err != nil {
		return tk.Control.Broken(s.Decision, fmt.Errorf("recording the end of %s of %s: %w", s.Op, s.URN, err))
	}
	if a.Err != nil {
		tk.EndFailed(s.Decision, s.Made, s.Shown(), a)
	} else {
		tk.writes.Outcomes.End(s.Decision, stages.Outcome{Fate: stages.FateDone, Made: s.Made})
		tk.caller.after(s, a.Final, returned)
		tk.reportDone(s)
	}
	if !early && s.View == nil {
		if err := tk.takeViews(s, a); err != nil && a.Err == nil {
			return err
		}
	}
	if s.Answers && (a.Err == nil || s.IsRead() && s.Made != nil) { // a read that is not healthy fails and is answered (steps.md 4.1)
		s.taken.reply = tk.replyTo(s)
	}
	return a.Err
}

// attempt runs the hooks before a step and the step itself.
func (tk *Taker) attempt(s *Taking) applied {
	if s.View != nil {
		return tk.ApplyView(s)
	}
	if err := tk.caller.before(s.Decision); err != nil {
		return Failed(err)
	}
	if s.Op != stages.OpSame && s.Op != stages.OpReplace {
		s.Publication = tk.PublicationFor(s.Decision, false)
	}
	return tk.apply(s)
}

// begin records that an operation is about to start; what needs no record returns nil.
func (tk *Taker) begin(d *stages.Decision) (*state.Resource, error) {
	if tk.Recorder == nil {
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
	return op.Resource, tk.Recorder.Begin(tk.Control.Operations, op)
}

// end records what a step did.
func (tk *Taker) end(s *Taking, a applied) error {
	tk.writes.Results.Apply(a.Change)
	if tk.Recorder == nil || s.Op == stages.OpReplace || a.Unrecorded {
		return nil
	}
	if a.Final == nil && isLost(a.Err) {
		// The outcome is uncertain, so the operation stays pending (state.md 9.4 R-7).
		tk.writes.Results.KeepPending(a.Change.Begun)
		return nil
	}
	if err := tk.Recorder.End(tk.Control.Operations, a.Change); err != nil {
		if makes(s.Decision, a.Final) {
			tk.writes.Results.KeepUnwritten(a.Final) // nothing else knows its ID
		}
		return err
	}
	if s.Resolves != "" && a.Final != nil {
		return tk.resolve(s.Resolves)
	}
	return nil
}

// makes reports whether a step has created an object.
func makes(d *stages.Decision, made *state.Resource) bool {
	return (d.Op == stages.OpCreate || d.Op == stages.OpCreateReplacement) && made != nil && made.ID != ""
}

// resolve records that the interrupted creates of a URN are resolved.
func (tk *Taker) resolve(u urn.URN) error {
	for _, begun := range tk.writes.InterruptedCreates.Resolve(u) {
		if err := tk.EndCreate(tk.Control.Operations, begun); err != nil {
			return err
		}
	}
	return nil
}
