package take

import (
	"errors"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// reportDone emits the event of a finished step and counts it (steps.md 8.3).
func (r *Taker) reportDone(s *Taking) {
	r.Record.Report(s.Decision)
	if s.Kind != stages.Provisional {
		r.showDone(s.Shown())
	}
}

func (r *Taker) showDone(info stages.StepInfo) {
	res := info.New
	if res == nil {
		res = info.Old
	}
	if r.DryRun() || res.Custom || res.ViewOf != "" || info.Op == stages.OpDelete {
		r.Emit(stages.StepDone{Step: info, Planning: r.DryRun(), At: r.Now()})
	}
}

// ShowProvisional emits the events of states that are kept because something refers to them. It is called once, at the end of
// a run: only then is it certain that no registration continues the states, and for what each is kept.
func (r *Taker) ShowProvisional() {
	for _, s := range r.Book.Provisional() {
		r.Emit(stages.StepStarted{Step: s.StepInfo, Planning: r.DryRun(), At: r.Now()})
		r.showDone(s.Shown())
	}
}

// ReportFailure shows a failed step.
func (r *Taker) ReportFailure(d *stages.Decision, info stages.StepInfo, a applied) {
	code, text, at := stages.CodeFailed, a.Err.Error(), d.URN
	if r.DryRun() {
		code, text = stages.CodePreviewFailed, "Preview failed: "+text
	} else {
		r.Emit(stages.StepFailed{Step: info, Status: a.status, Err: a.Err, At: r.Now()})
	}
	if d.Internal {
		at = ""
	}
	if !a.reported {
		r.Diagnose(at, stages.Error, code, text, advice.Of(a.Err)...)
		r.Fail(d.Seq, d.URN, stages.CodeShown, a.Err)
	}
	if a.status == statusUnknown {
		r.Record.SetUncertain(d.URN, isLost(a.Err))
	}
}

// replyTo builds the answer of a step (steps.md 3.19).
func (r *Taker) replyTo(s *Taking) *stages.RegisterReply {
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

// classify returns what a provider's error means (steps.md 9.3).
func classify(err error) int {
	if errors.As(err, new(*providers.InitError)) {
		return statusPartial
	}
	if errors.As(err, new(*providers.UncertainError)) {
		return statusUnknown
	}
	return statusOK
}

// isLost reports whether a provider was asked to do something and its answer is missing.
func isLost(err error) bool {
	var uncertain *providers.UncertainError
	return errors.As(err, &uncertain) && uncertain.Lost
}
