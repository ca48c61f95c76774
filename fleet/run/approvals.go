package run

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// approvals are the approvals of a run: those that its stacks wait for, and those that were granted.
type approvals struct {
	request Request
	earlier map[string]Outcome   // of stacks that are repeated
	asked   map[string]time.Time // the time since which stacks wait for an approval
	granted map[string]*Approval
	shown   map[string]Shown // previews of stacks that wait for an approval
}

// of returns the answer about a stack, nil if there is none.
func (a *approvals) of(name string) *Approval {
	if granted := a.granted[name]; granted != nil {
		return granted
	}
	return a.earlier[name].Approval
}

// lacks reports whether the operation on a stack still needs an approval.
func (a *approvals) lacks(s spec.Stack) bool {
	return StackRequest{Operation: a.request.Operation, Stack: s, Approval: a.of(s.Name)}.lacksApproval()
}

// needPreview reports whether a preview of the operation on a stack is needed, before an approval is requested.
func (a *approvals) needPreview(s spec.Stack) bool {
	_, shown := a.shown[s.Name]
	return a.request.Bound && !shown && a.lacks(s)
}

// show records the preview of the operation on a stack. It invalidates an earlier approval.
func (a *approvals) show(name string, o Outcome) {
	a.shown[name] = Shown{Plan: o.Plan, Changes: o.Changes, Why: o.Why}
	delete(a.granted, name)
	if was, again := a.earlier[name]; again {
		was.Approval = nil
		a.earlier[name] = was
	}
}

// await reports whether a stack waits for an approval, from now on if it did not before. In the meantime it does not count as running.
func (a *approvals) await(ctx workflow.Context, s spec.Stack) bool {
	if !a.lacks(s) {
		return false
	}
	if !a.request.Bound && workflow.GetVersion(ctx, "approval-in-run", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false // in runs of earlier versions, the workflow of the stack handles approvals
	}
	if _, asked := a.asked[s.Name]; !asked {
		a.asked[s.Name] = workflow.Now(ctx)
	}
	return true
}

// answered returns since when the stack of a decision has waited, and reports whether the decision has a name and matches the present question of the
// stack. attempt is the first workflow of the run.
func (a *approvals) answered(d Decision, attempt string) (since time.Time, is bool) {
	since, waits := a.asked[d.Stack]
	if !waits || d.By == "" {
		return since, false
	}
	if a.request.Bound && (d.Attempt != attempt || d.Plan == "" || d.Plan != a.shown[d.Stack].Plan || !d.Asked.Equal(since)) {
		return since, false
	}
	return since, true
}

// Approval is a person's answer about an operation that waits for it.
type Approval struct {
	Granted bool      `json:"granted"`
	By      string    `json:"by"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Plan    string    `json:"plan,omitempty"` // the digest of the approved plan
}

// Decision is an approval of the operation on one stack of a run, as sent with an [ApproveSignal]. It applies only to the run, the plan and the
// question in it, so that sending it again has no effect.
type Decision struct {
	Stack string `json:"stack"`
	Approval
	Attempt string    `json:"attempt,omitempty"` // the run, as in its view
	Asked   time.Time `json:"asked,omitzero"`    // the time since which the stack waits, as in the view of the run
}

// refused returns the outcome of a stack whose operation was not approved.
func refused(a Approval) Outcome {
	why := a.By + " has refused it"
	if a.Message != "" {
		why += ": " + a.Message
	}
	return Outcome{Status: Refused, Why: why, Approval: &a}
}

// canceledUnapproved is the reason of the cancellation of a stack that waited for an approval.
const canceledUnapproved = "the run was cancelled before somebody approved it"
