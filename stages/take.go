package stages

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// carryOut does what the executor has assigned. Its error is a bail, or that of a panic: the run must stop.
func (r *Run) carryOut(a Assignment) (Report, error) {
	rep := Report{Assignment: a}
	b := a.chain.built
	switch a.kind {
	case skipSteps:
		rep.err = r.skipChain(a, b)
	case refuseSteps:
		rep.err = r.refuseChain(b)
	default:
		var begun bool
		begun, rep.err = r.takeTask(a.steps, b)
		switch {
		case !begun:
			rep.end = taskNotBegun
		case rep.err != nil:
			rep.end = taskFailed
		}
	}
	if IsBail(rep.err) {
		return rep, rep.err
	}
	return rep, nil
}

// takeTask takes steps in their order. It returns false if the run has stopped before.
func (r *Run) takeTask(steps []*Decision, b Built) (begun bool, err error) {
	answered := false
	for _, s := range steps {
		if b.Question == nil && r.world.isUnsettled(s.Old) {
			return true, errUnsettled
		}
		// What follows the answer only shows that something has been replaced. Whether it does must not depend on what the
		// program does next, which may stop the run.
		if !answered && !r.enter() {
			b.settle(ErrShutDown)
			return false, nil
		}
		stopped, err := r.runStep(s, b.Question)
		if !answered {
			r.leave()
		}
		if answered = answered || s.Answers; err != nil {
			return true, r.taskFailed(b, err)
		}
		if answered && stopped {
			return true, nil
		}
	}
	return true, nil
}

// errUnsettled keeps what a resource depends on whose delete, as a part of a replacement, ended nobody knows how.
var errUnsettled = errors.New("an earlier operation of this run on the resource is pending")

// taskFailed says what becomes of a registration, or of the rest of a batch, of which a step has failed.
func (r *Run) taskFailed(b Built, err error) error {
	_, protected := err.(*ProtectedError)
	switch {
	case IsBail(err):
		return err
	case b.keepsGoing, b.Question == nil && protected:
		return err
	case !r.ContinueOnError:
		r.Halt()
		return &bailError{err}
	case b.Question != nil:
		r.world.markFailed(b.URN, b.URN)
		b.Question.answer(r.failedReply(b))
	}
	return err
}

// skipChain answers a registration whose steps are not taken because of a failure.
func (r *Run) skipChain(a Assignment, b Built) error {
	if b.Question == nil {
		for _, s := range a.steps {
			if s.Import != nil {
				r.diagnose(s.URN, Info, 0, "not imported, because what it belongs to could not be made")
			}
		}
		return nil
	}
	r.world.markFailed(b.URN, a.cause)
	b.Question.answer(&RegisterReply{URN: b.URN, Result: Skip})
	if err := r.takeProvisional(a.steps); err != nil {
		return err
	}
	return fmt.Errorf("skipped because of %s", a.cause)
}

// refuseChain fails a registration before the first of its own steps.
func (r *Run) refuseChain(b Built) error {
	steps := b.Steps()
	if err := r.takeProvisional(steps); err != nil {
		return err
	}
	if !r.enter() {
		b.settle(ErrShutDown)
		return nil
	}
	for _, s := range steps {
		if s.Answers {
			r.record.end(s, Outcome{Fate: FateFailed})
		}
	}
	r.diagnose(b.URN, Error, codeFailed, b.refusal.Error())
	r.failures.add(Failure{Seq: b.Seq, URN: b.URN, Err: b.refusal})
	r.leave()
	return r.taskFailed(b, b.refusal)
}

// takeProvisional takes those steps of a chain which is not taken that leave recorded states as they are: others may refer
// to them too, and which of them comes first is a matter of timing.
func (r *Run) takeProvisional(steps []*Decision) error {
	for _, s := range steps {
		if s.Kind != Provisional {
			continue
		}
		if _, err := r.runStep(s, nil); err != nil {
			return err
		}
	}
	return nil
}

// taking is one decision while it is being taken, by one goroutine.
type taking struct {
	*Decision
	question    *Question       // that the step may answer, nil for none
	publication *publication    // takes in the views that the step's provider publishes
	begun       *state.Resource // what was recorded as pending
	made        *state.Resource // what the step has produced
	stopped     bool            // a hook after the step has failed and has stopped the run
	// orphaned is true for a view whose resource is not recorded under this name after its step, so that nothing can be recorded
	// below it: the resource was not created, or it could not be updated and goes by its former name.
	orphaned bool
}

// shown is the step as events report it.
func (s *taking) shown() StepInfo {
	info := s.StepInfo
	if s.made != nil {
		info.New = s.made
	}
	return info
}

// applied is what a step did.
type applied struct {
	// unrecorded is true for a step after which the record is what it was.
	unrecorded bool
	final      *state.Resource // the state it produced, nil if none
	change     state.Change
	err        error // why it failed
	reported   bool  // the failure has been shown
	status     int   // of a failure: 0 nothing happened, 1 the resource exists, 2 unknown
}

// runStep takes one step (steps.md 9.2). It reports whether a hook after the step has stopped the run.
func (r *Run) runStep(d *Decision, q *Question) (stopped bool, err error) {
	s := &taking{Decision: r.withProvider(d), question: q}
	if err := r.start(s); err != nil {
		return false, err
	}
	err = r.conclude(s, r.attempt(s))
	return s.stopped, err
}

// start shows that a step begins and records it.
func (r *Run) start(s *taking) (err error) {
	r.record.begin(s.Decision) // most have been noted when they were decided on
	r.Emit(StepStarted{Step: s.StepInfo, Planning: r.DryRun(), At: r.Now()})
	if s.begun, err = r.begin(s.Decision); err != nil {
		return r.broken(s.Decision, fmt.Errorf("recording that %s of %s begins: %w", s.Op, s.URN, err))
	}
	return nil
}

// conclude keeps and records what a step did, takes the view steps that were published meanwhile, and answers.
func (r *Run) conclude(s *taking, a applied) error {
	a.change.Begun = s.begun
	var returned property.Map
	if a.final != nil {
		returned = a.final.Outputs
		if !a.unrecorded {
			a.final = r.markSecrets(a.final)
			a.change.Add, a.change.Extension = a.final, r.extensions.recorded(a.final.ExtensionRef)
		}
		s.made = a.final
		r.world.keep(s.Decision, a.final)
	}
	if s.Kind == Uncreated {
		r.world.openFor(s.Decision)
	}
	early := removes(s.Op) && s.View == nil
	if early {
		// Views are gone before what they belong to is.
		if err := r.takeViews(s, a); err != nil && a.err == nil {
			a = applied{change: state.Change{Begun: s.begun}, err: err, reported: true}
		}
	}
	if err := r.end(s, a); err != nil {
		return r.broken(s.Decision, fmt.Errorf("recording the end of %s of %s: %w", s.Op, s.URN, err))
	}
	if a.err != nil {
		r.record.end(s.Decision, Outcome{Fate: FateFailed, Made: s.made})
		r.reportFailure(s.Decision, s.shown(), a)
	} else {
		r.record.end(s.Decision, Outcome{Fate: FateDone, Made: s.made})
		r.after(s, a.final, returned)
		r.reportDone(s)
	}
	if !early && s.View == nil {
		if err := r.takeViews(s, a); err != nil && a.err == nil {
			return err
		}
	}
	if s.Answers && (a.err == nil || s.IsRead() && s.made != nil) { // a read that is not healthy fails and is answered (steps.md 4.1)
		s.question.answer(r.replyTo(s))
	}
	return a.err
}

// attempt runs the hooks before a step and the step itself.
func (r *Run) attempt(s *taking) applied {
	if s.View != nil {
		return r.applyView(s)
	}
	if err := r.before(s.Decision); err != nil {
		return failed(err)
	}
	if s.Op != OpSame && s.Op != OpReplace {
		s.publication = r.publicationFor(s.Decision, false)
	}
	return r.apply(s)
}

// broken ends the run because the record cannot be kept, or because nobody knows what a step has done.
func (r *Run) broken(d *Decision, err error) error {
	r.diagnose(d.URN, Error, 0, err.Error())
	r.failures.add(Failure{Seq: d.Seq, URN: d.URN, Err: err})
	r.Halt()
	return &bailError{err}
}

// begin records that an operation is about to start; what needs no record returns nil.
func (r *Run) begin(d *Decision) (*state.Resource, error) {
	if r.Recorder == nil {
		return nil, nil
	}
	op := state.Pending{Resource: d.New}
	switch d.Op {
	case OpCreate, OpCreateReplacement:
		op.Type = state.Creating
	case OpUpdate:
		op.Type = state.Updating
	case OpRead, OpReadReplacement:
		op.Type = state.Reading
	case OpImport, OpImportReplacement:
		op.Type = state.Importing
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced:
		op.Type = state.Deleting
		op.Resource = d.Old
	default:
		return nil, nil
	}
	return op.Resource, r.Recorder.Begin(r.operations, op)
}

// end records what a step did.
func (r *Run) end(s *taking, a applied) error {
	r.world.settle(a.change)
	if r.Recorder == nil || s.Op == OpReplace || a.unrecorded {
		return nil
	}
	if a.final == nil && isLost(a.err) {
		// Nobody knows what the provider has done, so the operation stays pending (state.md 9.4 R-7).
		r.world.unsettle(a.change.Begun)
		return nil
	}
	if err := r.Recorder.End(r.operations, a.change); err != nil {
		return tellMade(s.Decision, a.final, err)
	}
	if s.Settles != "" && a.final != nil {
		return r.settle(s.Settles)
	}
	return nil
}

// tellMade adds to the error of a record that could not be made the ID of what a create has made: nobody else will ever know it.
func tellMade(d *Decision, made *state.Resource, err error) error {
	if d.Op != OpCreate && d.Op != OpCreateReplacement || made == nil || made.ID == "" {
		return err
	}
	return fmt.Errorf("%w\nThe object with the ID %s was made. When the state can be written again, `sluice recover --adopt '%s=%s'` records it",
		err, made.ID, d.URN, made.ID)
}
