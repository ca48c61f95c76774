package stages

import (
	"errors"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// failedReply answers a registration of which a step has failed. What exists in spite of that is told: a resource that did
// not become healthy, and the ID of one that was to be updated.
func (r *Run) failedReply(b Built) *RegisterReply {
	reply := &RegisterReply{URN: b.URN, Result: Fail}
	for _, s := range r.record.stepsOf(b.Steps()) {
		switch {
		case !s.Answers:
		case s.Made != nil:
			reply.ID, reply.Outputs = s.Made.ID, s.Made.Outputs
		case s.Op == OpUpdate:
			reply.ID = s.Old.ID
		}
	}
	return reply
}

// blamed returns the failed resource because of which a chain is not taken (steps.md 9.4). It looks at the whole chain, so
// that a delete never runs without its create. A provider counts only if the one that is named is not recorded:
// what refers to it could not be either.
func (r *Run) blamed(b Built) (urn.URN, bool) {
	if !r.ContinueOnError {
		return "", false
	}
	return r.world.blame(func(f func(urn.URN)) {
		for _, s := range b.Steps() {
			if !s.Answers && s.Place != importPlace || s.New == nil {
				continue
			}
			wanted := s.New
			if s.IsKept() && b.Goal != nil {
				// Of what the recorded state refers to and the program does not, the program has not awaited the end.
				wanted = b.newState(Checked{})
			}
			references(wanted, func(u urn.URN, kind graph.Kind) {
				if kind != graph.Provider || r.base.providers[wanted.Provider] == nil {
					f(u)
				}
			})
		}
	})
}

// reportDone emits the event of a finished step and counts it (steps.md 8.3).
func (r *Run) reportDone(s *taking) {
	r.record.report(s.Decision)
	info := s.shown()
	res := info.New
	if res == nil {
		res = info.Old
	}
	if r.DryRun() || res.Custom || res.ViewOf != "" || s.Op == OpDelete {
		r.Emit(StepDone{Step: info, Planning: r.DryRun(), At: r.Now()})
	}
}

// reportFailure shows a failed step.
func (r *Run) reportFailure(d *Decision, info StepInfo, a applied) {
	code, text, at := codeFailed, a.err.Error(), d.URN
	if r.DryRun() {
		code, text = codePreviewFailed, "Preview failed: "+text
	} else {
		r.Emit(StepFailed{Step: info, Status: a.status, Err: a.err, At: r.Now()})
	}
	if d.Internal {
		at = ""
	}
	if !a.reported {
		r.diagnose(at, Error, code, text)
		r.failures.add(Failure{Seq: d.Seq, URN: d.URN, Err: a.err})
	}
	if a.status == statusUnknown {
		r.world.setUncertain()
	}
}

// replyTo builds the answer of a step (steps.md 3.19).
func (r *Run) replyTo(s *taking) *RegisterReply {
	if s.Kind == Uncreated {
		return &RegisterReply{URN: s.URN, Outputs: s.New.Outputs, Unknown: true}
	}
	return &RegisterReply{URN: s.URN, ID: s.made.ID, Outputs: s.made.Outputs}
}

const (
	statusOK = iota
	statusPartial
	statusUnknown
)

// classify says what a provider's error means (steps.md 9.3).
func classify(err error) int {
	if errors.As(err, new(*providers.InitError)) {
		return statusPartial
	}
	if errors.As(err, new(*providers.UncertainError)) {
		return statusUnknown
	}
	return statusOK
}

// isLost tells whether a provider was asked to do something and its answer is missing.
func isLost(err error) bool {
	var uncertain *providers.UncertainError
	return errors.As(err, &uncertain) && uncertain.Lost
}
