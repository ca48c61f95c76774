package sluice

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Result is what an operation did, or would do.
type Result struct {
	Changes map[stages.Op]int
	Outputs property.Map // of the stack
	// Plan allows what the operation did, or would do, and no more. nil without Options.MakePlan, and when it failed.
	Plan *state.Plan
	// Resolved says what became of the interrupted operations of earlier runs that the operation looked at or was told about:
	// all of them after Recover.
	Resolved []stages.Resolution
	// Kept are the recorded resources that the program has not declared and that stay, because something failed: sorted.
	Kept []urn.URN

	steps func() []stages.StepInfo

	// what the operation decided, for Decisions and Why
	about       why.About
	decided     func() []stages.Decided
	isSensitive func(string) bool
	locate      stages.Locate
}

// Steps returns the steps that were taken, or would be: each resource after what it refers to, in an order that does not depend on timing. The first
// call sorts them, which nobody pays for who only asks for Changes. The caller must not change them. A nil result, which there is if nothing was done, has none.
func (r *Result) Steps() []stages.StepInfo {
	if r == nil {
		return nil
	}
	return r.steps()
}

// HasChanges reports whether anything but same, read and discard was counted (steps.md 8.3).
func (r *Result) HasChanges() bool {
	for op, n := range r.Changes {
		switch op {
		case stages.OpSame, stages.OpRead, stages.OpDiscard, stages.OpReadReplacement:
		default:
			if n > 0 {
				return true
			}
		}
	}
	return false
}

// Decisions returns what the operation decided, and why, whether or not it was done. Each call computes it again, in time
// linear in the resources and their dependencies.
func (r *Result) Decisions() *why.Log { return r.DecisionsSince(nil) }

// DecisionsSince is [Result.Decisions] for a caller that knows which settings have changed since the last operation: values that come
// from them are theirs, and not the program's. changed is called at most once, and only if that matters.
func (r *Result) DecisionsSince(changed func() []why.ChangedSetting) *why.Log {
	return why.New(r.about, r.decided(), why.Known{IsSensitive: r.isSensitive, Locate: r.locate, Settings: changed})
}

// Why explains what the operation decided about a resource: the chain of reasons from the decision back to the edit of the
// program, the option or the outside event that caused it, across resources. It returns nil for a resource that
// nothing was decided about. To explain many resources, call [Result.Decisions] once.
func (r *Result) Why(u urn.URN) *why.Explanation { return r.Decisions().Why(u) }

// FailedError says that an operation failed or was canceled. Everything in it has been reported as diagnostics already.
type FailedError struct {
	Operation string
	Canceled  bool // it was interrupted, and nothing failed but what the providers were asked to abort
	// Cause is why the operation was to end before it was done, nil if it was not: the caller's context has ended, which is [context.Canceled] or
	// [context.DeadlineExceeded], and what [context.Cause] returns; or [Interrupts] have stopped it, which is [ErrInterrupted].
	Cause error
	Err   error // the failures, ordered by URN; a *multierror.Error; nil if there are none
}

func (e *FailedError) Error() string {
	text := e.Operation + " failed"
	if e.Canceled {
		text = e.Operation + " canceled"
	}
	if e.Canceled && e.Cause != nil && e.Cause != context.Canceled && e.Cause != ErrInterrupted {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	if e.Canceled && e.Err == nil {
		return text
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns the failures and the cause.
func (e *FailedError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Cause}, func(err error) bool { return err == nil })
}
