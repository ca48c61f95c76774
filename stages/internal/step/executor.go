package step

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Executor executes steps. Nothing else calls Create, Update and Delete.
type Executor struct {
	// Reporter records and shows steps that others carry out.
	Reporter *Reporter
	// Views is for calls during which providers may publish views.
	Views *Views
	// Outputs sets outputs after the step of a resource.
	Outputs *Outputs

	control   *control.Control
	rooms     *rooms.Rooms
	access    *access.Access
	performer *performer
	caller    *caller
}

// NewExecutor returns the executor of a run.
func NewExecutor(c *control.Control, b *rooms.Rooms, w rooms.StepWriters, a *access.Access, p *plan.Plans, s stages.Settings, h *HookSet) *Executor {
	shared := &caller{control: c, hooks: h, keepGoing: s.ContinueOnError}
	return assemble(c, b, w, a, p, s.Recorder, shared, &tokens{}, s.MonitorAddress)
}

// On returns an executor of the same run that works with other rooms.
func (ex *Executor) On(b *rooms.Rooms, w rooms.StepWriters, a *access.Access, p *plan.Plans) *Executor {
	return assemble(ex.control, b, w, a, p, ex.Reporter.Recorder, ex.caller, ex.Views.tokens, ex.Views.monitorAddress)
}

func assemble(c *control.Control, b *rooms.Rooms, w rooms.StepWriters, a *access.Access, p *plan.Plans, recorder state.Recorder, shared *caller,
	t *tokens, monitorAddress func() (string, error),
) *Executor {
	r := &Reporter{Recorder: recorder, control: c, rooms: b, writes: w}
	return &Executor{
		Reporter: r,
		Views:    &Views{control: c, rooms: b, reporter: r, tokens: t, monitorAddress: monitorAddress},
		Outputs:  &Outputs{control: c, rooms: b, reporter: r, plans: p, caller: shared},
		control:  c, rooms: b, access: a, caller: shared,
		performer: &performer{control: c, rooms: b, access: a, caller: shared},
	}
}

// InProgress is one decision while it is being executed, by one goroutine.
type InProgress struct {
	Decision    *stages.Decision
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
	info := s.Decision.StepInfo
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
	Err        error                // the error of a failed step
	reported   bool                 // the failure has been shown
	status     providers.ViewStatus // of a failure, of resources too
}

// ended is the end of a step.
type ended struct {
	reply   *stages.RegisterReply // to the registration, nil if the step gives none
	stopped bool                  // a hook after the step has stopped the run
}

// ExecuteStep executes one step (steps.md 9.2). The caller gives the reply.
func (ex *Executor) ExecuteStep(d *stages.Decision) (ended, error) {
	s := &InProgress{Decision: ex.performer.withProvider(d)}
	if err := ex.Reporter.start(s); err != nil {
		return ended{}, err
	}
	err := ex.endStep(s, ex.attempt(s))
	return s.ended, err
}

// endStep keeps and records the result of a step, and executes the view steps that were published meanwhile.
func (ex *Executor) endStep(s *InProgress, a applied) error {
	d := s.Decision
	a.Change.Begun = s.begun
	var returned property.Map
	if a.Final != nil {
		returned = a.Final.Outputs
		if !a.Unrecorded {
			a.Final = MarkSecrets(ex.control, a.Final)
			a.Change.Add, a.Change.Extension = a.Final, ex.access.Extensions.Recorded(a.Final.ExtensionRef)
			a.Change.Remove = append(a.Change.Remove, ex.rooms.Awaiting(a.Final.URN)...)
		}
		s.Made = a.Final
		ex.Reporter.Keep(d, a.Final)
	}
	if d.Kind == stages.Uncreated {
		ex.Reporter.open(d)
	}
	early := stages.Removes(d.Op) && d.View == nil
	if early {
		// Views are removed before the resource that they belong to.
		if err := ex.executeViews(s, a); err != nil && a.Err == nil {
			a = applied{Change: state.Change{Begun: s.begun}, Err: err, reported: true}
		}
	}
	if err := ex.Reporter.end(s, a); err != nil {
		return ex.control.Broken(d, fmt.Errorf("recording the end of %s of %s: %w", d.Op, d.URN, err))
	}
	if a.Err != nil {
		ex.Reporter.EndFailed(d, s.Made, s.Shown(), a)
	} else {
		ex.Reporter.settle(d, stages.Outcome{Fate: stages.FateDone, Made: s.Made})
		ex.caller.after(s, a.Final, returned)
		ex.Reporter.reportDone(s)
	}
	if !early && d.View == nil {
		if err := ex.executeViews(s, a); err != nil && a.Err == nil {
			return err
		}
	}
	if d.Answers && (a.Err == nil || d.IsRead() && s.Made != nil) { // a read that is not healthy fails and is answered (steps.md 4.1)
		s.ended.reply = replyTo(s)
	}
	return a.Err
}

// attempt runs the hooks before a step and the step itself.
func (ex *Executor) attempt(s *InProgress) applied {
	d := s.Decision
	if d.View != nil {
		return ex.Views.Apply(s)
	}
	if err := ex.caller.before(d); err != nil {
		return Failed(err)
	}
	if d.Op != stages.OpSame && d.Op != stages.OpReplace {
		s.Publication = ex.Views.PublicationFor(d, false)
	}
	return ex.performer.apply(s)
}

// executeViews executes the view steps that were published during a step, and returns the errors of those that failed. If the
// resource is removed its views are too, even if the provider has not published that.
func (ex *Executor) executeViews(s *InProgress, a applied) error {
	d := s.Decision
	var errs []error
	published := s.Publication.Close()
	for _, v := range published {
		v.orphaned = a.Final == nil && !stages.Removes(d.Op) && (d.Op != stages.OpUpdate || d.Old.URN != d.URN)
		if err := ex.endStep(v, ex.Views.Apply(v)); err != nil {
			errs = append(errs, fmt.Errorf("view %s: %w", v.Decision.URN, err))
		}
	}
	if a.Err != nil || len(errs) > 0 || !stages.Removes(d.Op) {
		return errors.Join(errs...)
	}
	for i, old := range ex.rooms.ViewsOf(d) {
		v := d.ForView(stages.OpDelete)
		v.Old, v.URN, v.Type, v.Sub = old, old.URN, old.Type, len(published)+i+1
		if _, err := ex.ExecuteStep(v); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// replyTo builds the answer of a step (steps.md 3.19).
func replyTo(s *InProgress) *stages.RegisterReply {
	d := s.Decision
	if d.Kind == stages.Uncreated {
		return &stages.RegisterReply{URN: d.URN, Outputs: d.New.Outputs, Unknown: true}
	}
	return &stages.RegisterReply{URN: d.URN, ID: s.Made.ID, Outputs: s.Made.Outputs}
}

// Execute executes an assignment. Its error is one of Bail, or that of a panic: the run must stop.
func (ex *Executor) Execute(a Assignment) (Report, error) {
	rep := Report{Assignment: a}
	b := a.Chain.Built
	switch a.Kind {
	case SkipSteps:
		rep.Err = ex.skipChain(a, b)
	case RefuseSteps:
		rep.Err = ex.refuseChain(b)
	default:
		var begun bool
		begun, rep.Err = ex.ExecuteTask(a.Steps, b)
		switch {
		case !begun:
			rep.End = TaskNotBegun
		case rep.Err != nil:
			rep.End = TaskFailed
		}
	}
	if stages.IsReported(rep.Err) {
		return rep, rep.Err
	}
	return rep, nil
}

// ExecuteTask executes steps in their order. It returns false if the run has stopped before.
func (ex *Executor) ExecuteTask(steps []*stages.Decision, b stages.Built) (begun bool, err error) {
	ex.control.AwaitAdmission()
	answered := false
	for _, s := range steps {
		if b.PendingReply == nil && ex.rooms.Results.StaysPending(s.Old) {
			return true, errStillPending
		}
		// A step after the answer only shows that something has been replaced. Whether it is executed must not depend on the next
		// action of the program, which may stop the run.
		if !answered && !ex.control.Enter() {
			b.PendingReply.Reject(stages.ErrShutDown)
			return false, nil
		}
		done, err := ex.ExecuteStep(s)
		if err != nil {
			err = ex.taskFailed(b, err)
		}
		if !answered {
			ex.control.Leave(func() {
				if done.reply != nil {
					b.PendingReply.Answer(done.reply)
				}
			})
		}
		if answered = answered || s.Answers; err != nil {
			return true, err
		}
		if answered && done.stopped {
			return true, nil
		}
	}
	return true, nil
}

// errStillPending keeps the dependencies of a resource whose delete, as a part of a replacement, has an uncertain outcome.
var errStillPending = errors.New("an earlier operation of this run on the resource is pending")

// taskFailed ends a registration, or the rest of a batch, after one of its steps has failed.
func (ex *Executor) taskFailed(b stages.Built, err error) error {
	protected := errors.As(err, new(*state.ProtectedError))
	switch {
	case stages.IsReported(err):
		return err
	case b.KeepsGoing, b.PendingReply == nil && protected:
		return err
	case !ex.rooms.ContinueOnError:
		ex.control.Halt()
		return &stages.ReportedError{Err: err}
	case b.PendingReply != nil:
		ex.Reporter.markFailed(b.URN, b.URN) // the caller replies when the other steps of the registration are over
	}
	return err
}

// Answer gives the reply to a registration without steps. The program may still register outputs of a component that is bypassed;
// they are ignored.
func (ex *Executor) Answer(b stages.Built) {
	if b.Course == stages.Refused {
		ex.Reporter.markFailed(b.URN, ex.causeOfRefusal(b))
	}
	if b.Course.IsBypassed() {
		ex.Reporter.open(&stages.Decision{StepInfo: stages.StepInfo{URN: b.URN, Type: b.Subject().Type}, Kind: stages.Uncreated})
	}
	b.PendingReply.Answer(b.Reply)
}

// causeOfRefusal returns the resource because of which a registration is refused: its provider, or the resource itself.
func (ex *Executor) causeOfRefusal(b stages.Built) urn.URN {
	if b.Reply.Result != stages.Skip {
		return b.URN
	}
	ref, err := urn.ParseProviderRef(b.Subject().Provider)
	if err != nil {
		return b.URN
	}
	cause, _ := ex.rooms.Failures.Of(ref.URN)
	return cause
}

// skipChain answers a registration whose steps are not executed because of a failure.
func (ex *Executor) skipChain(a Assignment, b stages.Built) error {
	if b.PendingReply == nil {
		for _, s := range a.Steps {
			if s.Import != nil {
				ex.control.Diagnose(s.URN, stages.Info, 0, "not imported, because what it belongs to could not be made")
			}
		}
		return nil
	}
	reply, skipped := ex.Skip(b, a.Cause)
	b.PendingReply.Answer(reply)
	if err := ex.executeProvisional(a.Steps); err != nil {
		return err
	}
	return skipped
}

// Skip records that a registration fails because of the failure of another one. It returns the reply to the registration, and its
// error.
func (ex *Executor) Skip(b stages.Built, cause urn.URN) (*stages.RegisterReply, error) {
	ex.Reporter.markFailed(b.URN, cause)
	return &stages.RegisterReply{URN: b.URN, Result: stages.Skip}, fmt.Errorf("skipped because of %s", cause)
}

// refuseChain fails a registration before the first of its own steps.
func (ex *Executor) refuseChain(b stages.Built) error {
	steps := b.Steps()
	if err := ex.executeProvisional(steps); err != nil {
		return err
	}
	if !ex.control.Enter() {
		b.PendingReply.Reject(stages.ErrShutDown)
		return nil
	}
	for _, s := range steps {
		if s.Answers {
			ex.Reporter.settle(s, stages.Outcome{Fate: stages.FateFailed})
		}
	}
	ex.control.Fail(b.Seq, b.URN, stages.CodeFailed, b.Refusal)
	defer ex.control.Leave(nil)
	return ex.taskFailed(b, b.Refusal)
}

// executeProvisional executes those steps of a skipped chain that leave recorded states as they are: others may refer to the states
// too, and which of them comes first is a matter of timing.
func (ex *Executor) executeProvisional(steps []*stages.Decision) error {
	for _, s := range steps {
		if s.Kind != stages.Provisional {
			continue
		}
		if _, err := ex.ExecuteStep(s); err != nil {
			return err
		}
	}
	return nil
}

// MarkSecrets makes outputs secret that are secret according to the program or the inputs (steps.md 3.14). It may be called on a
// state that is not published yet.
func MarkSecrets(c *control.Control, s *state.Resource) *state.Resource {
	var out map[string]property.Value
	mark := func(name string) {
		v, ok := s.Outputs.Get(name)
		if !ok || v.IsSecret() {
			return
		}
		if out == nil {
			out = s.Outputs.Mutable()
		}
		out[name] = property.Secret(v)
	}
	for _, name := range s.AdditionalSecretOutputs {
		if name == "id" {
			c.Warn(s.URN, "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details.")
			continue
		}
		mark(name)
	}
	for name, v := range s.Inputs.All() {
		if v.IsSecret() {
			mark(name)
		}
	}
	if out != nil {
		s.Outputs = property.NewMap(out)
	}
	return s
}
