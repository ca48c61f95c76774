package step

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

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
	ex.Control.AwaitAdmission()
	answered := false
	for _, s := range steps {
		if b.PendingReply == nil && ex.Rooms.Results.StaysPending(s.Old) {
			return true, errStillPending
		}
		// A step after the answer only shows that something has been replaced. Whether it is executed must not depend on the next
		// action of the program, which may stop the run.
		if !answered && !ex.Control.Enter() {
			b.PendingReply.Reject(stages.ErrShutDown)
			return false, nil
		}
		done, err := ex.ExecuteStep(s)
		if err != nil {
			err = ex.taskFailed(b, err)
		}
		if !answered {
			ex.Control.Leave(func() {
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
	case !ex.Rooms.ContinueOnError:
		ex.Control.Halt()
		return &stages.ReportedError{Err: err}
	case b.PendingReply != nil:
		ex.writes.Results.MarkFailed(b.URN, b.URN) // the caller replies when the other steps of the registration are over
	}
	return err
}

// Answer gives the reply to a registration without steps. The program may still register outputs of a component that is bypassed;
// they are ignored.
func (ex *Executor) Answer(b stages.Built) {
	if b.Course.IsBypassed() {
		ex.writes.Outputs.Open(&stages.Decision{StepInfo: stages.StepInfo{URN: b.URN, Type: b.Subject().Typ}, Kind: stages.Uncreated})
	}
	b.PendingReply.Answer(b.Reply)
}

// skipChain answers a registration whose steps are not executed because of a failure.
func (ex *Executor) skipChain(a Assignment, b stages.Built) error {
	if b.PendingReply == nil {
		for _, s := range a.Steps {
			if s.Import != nil {
				ex.Control.Diagnose(s.URN, stages.Info, 0, "not imported, because what it belongs to could not be made")
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
	ex.writes.Results.MarkFailed(b.URN, cause)
	return &stages.RegisterReply{URN: b.URN, Result: stages.Skip}, fmt.Errorf("skipped because of %s", cause)
}

// refuseChain fails a registration before the first of its own steps.
func (ex *Executor) refuseChain(b stages.Built) error {
	steps := b.Steps()
	if err := ex.executeProvisional(steps); err != nil {
		return err
	}
	if !ex.Control.Enter() {
		b.PendingReply.Reject(stages.ErrShutDown)
		return nil
	}
	for _, s := range steps {
		if s.Answers {
			ex.writes.Outcomes.End(s, stages.Outcome{Fate: stages.FateFailed})
		}
	}
	ex.Control.Fail(b.Seq, b.URN, stages.CodeFailed, b.Refusal)
	defer ex.Control.Leave(nil)
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
