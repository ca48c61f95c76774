package run

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// Approval is what somebody has said about an operation that waits for it.
type Approval struct {
	Granted bool      `json:"granted"`
	By      string    `json:"by"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Plan    string    `json:"plan,omitempty"` // the digest of what may be done
}

// Decision is an approval of the operation on one stack of a run, as an [ApproveSignal] has it. It counts for the run, the plan and the question that it
// names, so it decides nothing when it is sent again.
type Decision struct {
	Stack string `json:"stack"`
	Approval
	Attempt string    `json:"attempt,omitempty"` // the run, as its view has it
	Asked   time.Time `json:"asked,omitzero"`    // since when the stack waits, as the view of the run has it
}

// lacksApproval reports whether somebody has to approve the operation, and nobody has said anything about it.
func (r StackRequest) lacksApproval() bool {
	return r.Approval == nil && slices.Contains(r.Stack.Approve, string(r.Operation))
}

// refused returns the outcome of a stack that somebody does not approve.
func refused(a Approval) Outcome {
	why := a.By + " has refused it"
	if a.Message != "" {
		why += ": " + a.Message
	}
	return Outcome{Status: Refused, Why: why, Approval: &a}
}

// canceledUnapproved is why a stack was canceled that waited for an approval.
const canceledUnapproved = "the run was canceled before somebody approved it"

// approval returns what somebody has said about a stack, nil if nobody has.
func (f *fleet) approval(name string) *Approval {
	if a := f.approved[name]; a != nil {
		return a
	}
	return f.earlier[name].Approval
}

// lacksApproval reports whether somebody has to approve what is done with a stack.
func (f *fleet) lacksApproval(s spec.Stack) bool {
	return StackRequest{Operation: f.Operation, Stack: s, Approval: f.approval(s.Name)}.lacksApproval()
}

// looks reports whether it is to be found out what would be done with a stack, before somebody is asked to approve it.
func (f *fleet) looks(s spec.Stack) bool {
	_, shown := f.shown[s.Name]
	return f.Bound && !shown && f.lacksApproval(s)
}

// show notes what would be done with a stack. What was approved of it before does not count any more.
func (f *fleet) show(name string, o Outcome) {
	f.shown[name] = Shown{Plan: o.Plan, Changes: o.Changes, Why: o.Why}
	delete(f.approved, name)
	if was, again := f.earlier[name]; again {
		was.Approval = nil
		f.earlier[name] = was
	}
}

// asks reports whether a stack waits until somebody approves it. It has no place in the run meanwhile.
func (f *fleet) asks(ctx workflow.Context, s spec.Stack) bool {
	if !f.lacksApproval(s) {
		return false
	}
	if !f.Bound && workflow.GetVersion(ctx, "approval-in-run", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false // in runs of earlier versions, the workflow of the stack asks
	}
	if _, asked := f.asked[s.Name]; !asked {
		f.asked[s.Name] = f.now()
	}
	return true
}

// decide takes what somebody has decided. What does not say who, or is not about what a stack waits for now, decides nothing.
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
