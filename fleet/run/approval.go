package run

import (
	"time"
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
