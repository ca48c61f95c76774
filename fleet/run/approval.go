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
}

// Decision is an approval of the operation on one stack of a run, as an [ApproveSignal] has it.
type Decision struct {
	Stack string `json:"stack"`
	Approval
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

// asks reports whether a stack waits until somebody approves it. It has no place in the run meanwhile.
func (f *fleet) asks(ctx workflow.Context, s spec.Stack) bool {
	if !f.lacksApproval(s) || workflow.GetVersion(ctx, "approval-in-run", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return false // in runs of earlier versions, the workflow of the stack asks
	}
	if _, asked := f.asked[s.Name]; !asked {
		f.asked[s.Name] = f.now()
	}
	return true
}

// decide takes what somebody has decided. What does not say who, or is about a stack that does not wait, decides nothing.
func (f *fleet) decide(ctx workflow.Context, d Decision) {
	since, waits := f.asked[d.Stack]
	if !waits || d.By == "" {
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
