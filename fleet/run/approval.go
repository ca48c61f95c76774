package run

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/spec"
)

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

// lacksApproval reports whether the operation needs an approval, and there is no answer yet.
func (r StackRequest) lacksApproval() bool {
	return r.Approval == nil && slices.Contains(r.Stack.Approve, string(r.Operation))
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
const canceledUnapproved = "the run was canceled before somebody approved it"

// approval returns the answer about a stack, nil if there is none.
func (f *fleet) approval(name string) *Approval {
	if a := f.approved[name]; a != nil {
		return a
	}
	return f.earlier[name].Approval
}

// lacksApproval reports whether the operation on a stack still needs an approval.
func (f *fleet) lacksApproval(s spec.Stack) bool {
	return StackRequest{Operation: f.Operation, Stack: s, Approval: f.approval(s.Name)}.lacksApproval()
}

// looks reports whether a preview of the operation on a stack is needed, before an approval is requested.
func (f *fleet) looks(s spec.Stack) bool {
	_, shown := f.shown[s.Name]
	return f.Bound && !shown && f.lacksApproval(s)
}

// show records the preview of the operation on a stack. It invalidates an earlier approval.
func (f *fleet) show(name string, o Outcome) {
	f.shown[name] = Shown{Plan: o.Plan, Changes: o.Changes, Why: o.Why}
	delete(f.approved, name)
	if was, again := f.earlier[name]; again {
		was.Approval = nil
		f.earlier[name] = was
	}
}

// asks reports whether a stack waits for an approval. In the meantime it does not count as running.
func (f *fleet) asks(ctx workflow.Context, s spec.Stack) bool {
	if !f.lacksApproval(s) {
		return false
	}
	if !f.Bound && workflow.GetVersion(ctx, "approval-in-run", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false // in runs of earlier versions, the workflow of the stack handles approvals
	}
	if _, asked := f.asked[s.Name]; !asked {
		f.asked[s.Name] = f.now()
	}
	return true
}

// decide processes a decision. It ignores one without a name, and one that does not match the present question of the stack.
func (f *fleet) decide(ctx workflow.Context, d Decision) {
	since, waits := f.asked[d.Stack]
	if !waits || d.By == "" {
		return
	}
	if f.Bound && (d.Attempt != f.attempt || d.Plan == "" || d.Plan != f.shown[d.Stack].Plan || !d.Asked.Equal(since)) {
		return
	}
	delete(f.asked, d.Stack)
	waited(ctx, "approval", since)
	d.At = f.now()
	if d.Granted {
		f.approved[d.Stack] = &d.Approval
	} else {
		f.conclude(ctx, d.Stack, refused(d.Approval))
	}
}
