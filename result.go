package sluice

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/internal/text/frames"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Result is what an operation did, or would do. An operation that could not begin has a nil result; the methods of that one find nothing.
type Result struct {
	Changes map[stages.Op]int
	Outputs property.Map // of the stack
	// Plan allows what the operation did, or would do, and no more. nil without Options.MakePlan, and when it failed.
	Plan *state.Plan
	// Resolved has the resolutions of the interrupted operations of earlier runs that this operation has handled: all of them after
	// Recover.
	Resolved []stages.Resolution
	// Kept are the recorded resources that the program has not declared and that were not deleted because something failed, sorted.
	Kept []urn.URN

	steps func() []stages.StepInfo

	// the decisions of the operation, for Decisions and Why
	about       why.About
	decided     func() []stages.Decided
	isSensitive func(string) bool
	locate      stages.Locate
	files       *frames.Files
	failures    []stages.Failure
}

// Steps returns the executed steps, or those of a preview: each resource after what it refers to, in an order that does not depend
// on timing. The first call sorts them, so a caller that reads only Changes does not pay for that. The caller must not change them.
func (r *Result) Steps() []stages.StepInfo {
	if r == nil || r.steps == nil {
		return nil
	}
	return r.steps()
}

// HasChanges reports whether anything but same, read and discard was counted ([steps.md 8.3]).
//
// [steps.md 8.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#83-events-and-counters
func (r *Result) HasChanges() bool {
	if r == nil {
		return false
	}
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

// DecisionsSince is like [Result.Decisions], but attributes values to the settings that have changed since the last operation, and
// not to the program, if they come from those settings. changed returns the settings. It is called at most once, and only if it
// matters.
func (r *Result) DecisionsSince(changed func() []why.ChangedSetting) *why.Log {
	if r == nil || r.decided == nil {
		return why.New(why.About{}, nil, why.Known{})
	}
	return why.New(r.about, r.decided(), why.Known{IsSensitive: r.isSensitive, Locate: r.locate, Statement: r.statement, Declaration: r.files.Declaration, Settings: changed, Failures: r.failures})
}

// statement returns the line of the program that gives an input.
func (r *Result) statement(stack []state.StackFrame, at property.Path, old, new property.Value) (string, bool) {
	return r.files.Line(stack, frames.Change{Path: at, Old: old, New: new})
}

// Why explains the decision about a resource: the chain of reasons back to the edit of the program, the option or the outside event
// that caused it, across resources. It returns nil for a resource without a decision. To explain many resources, call
// [Result.Decisions] once.
func (r *Result) Why(u urn.URN) *why.Explanation { return r.Decisions().Why(u) }

// FailedError reports that an operation failed or was cancelled. Everything in it has been reported as diagnostics already.
type FailedError struct {
	Operation string
	Canceled  bool // it was interrupted, and nothing failed but aborted calls
	// Cause is the reason for ending the operation early, nil if it was not ended early. If the caller's context has ended, it is
	// [context.Canceled] or [context.DeadlineExceeded], together with the error that [context.Cause] returns. If [Interrupts] have
	// stopped the operation, it is [ErrInterrupted].
	Cause error
	Err   *multierror.Error // the failures, ordered by URN; nil if there are none
}

func (e *FailedError) Error() string {
	text := e.Operation + " failed"
	if e.Canceled {
		text = e.Operation + " cancelled"
	}
	if e.Canceled && e.Cause != nil && e.Cause != context.Canceled && e.Cause != ErrInterrupted {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	if e.Canceled && e.Err == nil {
		return text
	}
	return fmt.Sprintf("%s: %s", text, strings.TrimRight(fmt.Sprint(e.Err), "\n"))
}

// Unwrap returns the failures and the cause.
func (e *FailedError) Unwrap() []error {
	all := slices.Clone(e.Err.WrappedErrors())
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}
