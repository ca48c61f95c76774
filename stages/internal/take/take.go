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

// Taker takes steps. Nothing else calls Create, Update and Delete.
type Taker struct {
	*control.Control
	*book.Book
	*access.Access
	*plan.Plans
	*caller
	Recorder       state.Recorder // nil in previews, which record nothing
	tokens         *tokens
	MonitorAddress func() (string, error)
}

// NewTaker returns the taker of a run.
func NewTaker(c *control.Control, b *book.Book, a *access.Access, p *plan.Plans, s stages.Settings, h *HookSet) *Taker {
	return &Taker{
		Control: c, Book: b, Access: a, Plans: p, Recorder: s.Recorder, tokens: &tokens{}, MonitorAddress: s.MonitorAddress,
		caller: &caller{Control: c, hooks: h, keepGoing: s.ContinueOnError},
	}
}

// On returns the taker that works with another book of the same run.
func (r *Taker) On(b *book.Book, a *access.Access, p *plan.Plans) *Taker {
	other := *r
	other.Book, other.Access, other.Plans = b, a, p
	return &other
}

// EndCreate records that a create of an earlier run is resolved.
func (r *Taker) EndCreate(ctx context.Context, begun *state.Resource) error {
	if r.Recorder == nil {
		return nil
	}
	if err := r.Recorder.End(ctx, state.Change{Begun: begun}); err != nil {
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
func (r *Taker) RunStep(d *stages.Decision) (taken, error) {
	s := &Taking{Decision: r.withProvider(d)}
	if err := r.start(s); err != nil {
		return taken{}, err
	}
	err := r.conclude(s, r.attempt(s))
	return s.taken, err
}

// start shows that a step begins, and records that.
func (r *Taker) start(s *Taking) (err error) {
	r.Record.Begin(s.Decision)        // most were added when they were decided on
	if s.Kind != stages.Provisional { // whether it stands is known at the end: see Taker.ShowProvisional
		r.Emit(stages.StepStarted{Step: s.StepInfo, Planning: r.DryRun(), At: r.Now()})
	}
	if s.begun, err = r.begin(s.Decision); err != nil {
		return r.Broken(s.Decision, fmt.Errorf("recording that %s of %s begins: %w", s.Op, s.URN, err))
	}
	return nil
}

// conclude keeps and records what a step did, and carries out the view steps that were published meanwhile.
func (r *Taker) conclude(s *Taking, a applied) error {
	a.Change.Begun = s.begun
	var returned property.Map
	if a.Final != nil {
		returned = a.Final.Outputs
		if !a.Unrecorded {
			a.Final = r.MarkSecrets(a.Final)
			a.Change.Add, a.Change.Extension = a.Final, r.Extensions.Recorded(a.Final.ExtensionRef)
			a.Change.Remove = append(a.Change.Remove, r.Awaiting(a.Final.URN)...)
		}
		s.Made = a.Final
		r.Results.Keep(s.Decision, a.Final)
	}
	if s.Kind == stages.Uncreated {
		r.Results.OpenFor(s.Decision)
	}
	early := stages.Removes(s.Op) && s.View == nil
	if early {
		// Views are removed before what they belong to.
		if err := r.takeViews(s, a); err != nil && a.Err == nil {
			a = applied{Change: state.Change{Begun: s.begun}, Err: err, reported: true}
		}
	}
	if err := r.end(s, a); err != nil {
		return r.Broken(s.Decision, fmt.Errorf("recording the end of %s of %s: %w", s.Op, s.URN, err))
	}
	if a.Err != nil {
		r.Record.End(s.Decision, stages.Outcome{Fate: stages.FateFailed, Made: s.Made})
		r.ReportFailure(s.Decision, s.Shown(), a)
	} else {
		r.Record.End(s.Decision, stages.Outcome{Fate: stages.FateDone, Made: s.Made})
		r.after(s, a.Final, returned)
		r.reportDone(s)
	}
	if !early && s.View == nil {
		if err := r.takeViews(s, a); err != nil && a.Err == nil {
			return err
		}
	}
	if s.Answers && (a.Err == nil || s.IsRead() && s.Made != nil) { // a read that is not healthy fails and is answered (steps.md 4.1)
		s.taken.reply = r.replyTo(s)
	}
	return a.Err
}

// attempt runs the hooks before a step and the step itself.
func (r *Taker) attempt(s *Taking) applied {
	if s.View != nil {
		return r.ApplyView(s)
	}
	if err := r.before(s.Decision); err != nil {
		return Failed(err)
	}
	if s.Op != stages.OpSame && s.Op != stages.OpReplace {
		s.Publication = r.PublicationFor(s.Decision, false)
	}
	return r.apply(s)
}

// begin records that an operation is about to start; what needs no record returns nil.
func (r *Taker) begin(d *stages.Decision) (*state.Resource, error) {
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
	return op.Resource, r.Recorder.Begin(r.Operations, op)
}

// end records what a step did.
func (r *Taker) end(s *Taking, a applied) error {
	r.Results.Apply(a.Change)
	if r.Recorder == nil || s.Op == stages.OpReplace || a.Unrecorded {
		return nil
	}
	if a.Final == nil && isLost(a.Err) {
		// The outcome is uncertain, so the operation stays pending (state.md 9.4 R-7).
		r.Results.KeepPending(a.Change.Begun)
		return nil
	}
	if err := r.Recorder.End(r.Operations, a.Change); err != nil {
		if makes(s.Decision, a.Final) {
			r.Results.KeepUnwritten(a.Final) // nothing else knows its ID
		}
		return err
	}
	if s.Resolves != "" && a.Final != nil {
		return r.resolve(s.Resolves)
	}
	return nil
}

// makes reports whether a step has created an object.
func makes(d *stages.Decision, made *state.Resource) bool {
	return (d.Op == stages.OpCreate || d.Op == stages.OpCreateReplacement) && made != nil && made.ID != ""
}

// resolve records that the interrupted creates of a URN are resolved.
func (r *Taker) resolve(u urn.URN) error {
	for _, begun := range r.InterruptedCreates.Resolve(u) {
		if err := r.EndCreate(r.Operations, begun); err != nil {
			return err
		}
	}
	return nil
}
