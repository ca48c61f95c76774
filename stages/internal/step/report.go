package step

import (
	"errors"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// reportDone emits the event of a finished step and counts it (steps.md 8.3).
func (ex *Executor) reportDone(s *InProgress) {
	ex.writes.Outcomes.Report(s.Decision)
	if s.Kind != stages.Provisional {
		ex.showDone(s.Shown())
	}
}

func (ex *Executor) showDone(info stages.StepInfo) {
	res := info.New
	if res == nil {
		res = info.Old
	}
	if ex.Control.DryRun() || res.Custom || res.ViewOf != "" || info.Op == stages.OpDelete {
		ex.Control.Emit(stages.StepDone{Step: info, Planning: ex.Control.DryRun(), At: ex.Control.Now()})
	}
}

// ShowProvisional emits the events of states that are kept because something refers to them. It is called once, at the end of a
// run: only then is it certain that no registration continues the states, and for which resource each is kept.
func (ex *Executor) ShowProvisional() {
	for _, s := range ex.Rooms.Provisional() {
		ex.Control.Emit(stages.StepStarted{Step: s.StepInfo, Planning: ex.Control.DryRun(), At: ex.Control.Now()})
		ex.showDone(s.Shown())
	}
}

// EndFailed records and shows that a step has failed. made is the state that it has produced all the same, nil if there is none.
func (ex *Executor) EndFailed(d *stages.Decision, made *state.Resource, info stages.StepInfo, a applied) {
	ex.writes.Outcomes.End(d, stages.Outcome{Fate: stages.FateFailed, Made: made})
	ex.ReportFailure(d, info, a)
}

// EndFound records and shows the result of a refresh. If the whole operation is a refresh, it is counted as op.
func (ex *Executor) EndFound(d *stages.Decision, info stages.StepInfo) {
	if ex.Rooms.Mode == stages.ModeRefresh {
		ex.writes.Outcomes.Report(d)
	}
	ex.writes.Outcomes.End(d, stages.Outcome{Fate: stages.FateDone, Found: &info})
	ex.Control.Emit(stages.StepDone{Step: info, Planning: ex.Control.DryRun(), At: ex.Control.Now()})
}

// ReportFailure shows a failed step.
func (ex *Executor) ReportFailure(d *stages.Decision, info stages.StepInfo, a applied) {
	code, text, at := stages.CodeFailed, a.Err.Error(), d.URN
	if ex.Control.DryRun() {
		code, text = stages.CodePreviewFailed, "Preview failed: "+text
	} else {
		ex.Control.Emit(stages.StepFailed{Step: info, Status: a.status, Err: a.Err, At: ex.Control.Now()})
	}
	if d.Internal {
		at = ""
	}
	if !a.reported {
		ex.Control.Diagnose(at, stages.Error, code, text, advice.Of(a.Err)...)
		ex.Control.Fail(d.Seq, d.URN, stages.CodeShown, a.Err)
	}
	if a.status == statusUnknown {
		ex.writes.Outcomes.SetUncertain(d.URN, isLost(a.Err))
	}
}

// replyTo builds the answer of a step (steps.md 3.19).
func (ex *Executor) replyTo(s *InProgress) *stages.RegisterReply {
	if s.Kind == stages.Uncreated {
		return &stages.RegisterReply{URN: s.URN, Outputs: s.New.Outputs, Unknown: true}
	}
	return &stages.RegisterReply{URN: s.URN, ID: s.Made.ID, Outputs: s.Made.Outputs}
}

const (
	statusOK = iota
	statusPartial
	statusUnknown
)

// classify returns the status of a provider's error (steps.md 9.3).
func classify(err error) int {
	if errors.As(err, new(*providers.InitError)) {
		return statusPartial
	}
	if errors.As(err, new(*providers.UncertainError)) {
		return statusUnknown
	}
	return statusOK
}

// isLost reports whether a provider was called and its answer is missing.
func isLost(err error) bool {
	var uncertain *providers.UncertainError
	return errors.As(err, &uncertain) && uncertain.Lost
}
