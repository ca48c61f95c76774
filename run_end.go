package sluice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/stages"
)

// close ends everything, emits the last events and builds the result.
func (s *session) close(ctx context.Context, runErr error) (*Result, error) {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	if runErr != nil {
		errs = append(errs, runErr)
	}
	if err := s.closeRecorder(ctx); err != nil {
		errs = append(errs, fmt.Errorf("writing the state: %w", err))
	}
	if err := s.server.close(); err != nil {
		s.options.Log.Warn("closing the monitor", "error", err)
	}
	if !s.options.Interrupts.Stopped() && !s.interrupted {
		settle, done := context.WithTimeout(s.operations, settleTimeout)
		s.registry.Settle(settle)
		done()
	}
	if err := s.registry.Close(); err != nil {
		s.options.Log.Warn("closing providers", "error", err)
	}
	s.closePolicies()
	s.background.end()
	s.abandon()

	for _, err := range errs {
		s.deployment.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: err.Error()}})
	}
	err := s.failure(errs)
	result := s.result()
	if err == nil {
		result.Plan = s.madePlan()
	}
	result.decided = s.decided(err)
	s.deployment.Emit(s.summary(err, result))
	s.deployment.Emit(stages.Ended{})
	return result, err
}

// failure turns what went wrong into the operation's error.
func (s *session) failure(errs []error) error {
	var all *multierror.Error
	for _, f := range s.deployment.Failures() {
		all = multierror.Append(all, f)
	}
	if len(errs) == 0 && (all.ErrorOrNil() == nil || s.failedByAborting()) && (s.options.Interrupts.Stopped() || s.interrupted) {
		return &FailedError{Operation: s.op.name, Canceled: true, Err: all.ErrorOrNil()}
	}
	all = multierror.Append(all, errs...)
	if all.Len() == 0 {
		return nil
	}
	s.deployment.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: s.op.name + " failed"}})
	return &FailedError{Operation: s.op.name, Err: all.ErrorOrNil()}
}

// failedByAborting tells whether all that failed did so after the providers had been asked to abort: that they report what
// they have aborted is what somebody wanted, not a failure of the operation.
func (s *session) failedByAborting() bool {
	before := s.failedBefore.Load()
	return before != nil && !*before
}

func (s *session) result() *Result {
	steps, counts := s.deployment.Steps()
	return &Result{Steps: steps, Changes: counts, Outputs: s.deployment.StackOutputs()}
}

func (s *session) summary(err error, res *Result) stages.Summary {
	out := stages.Summary{
		IsPreview: s.op.dryRun, MaybeCorrupt: s.deployment.IsUncertain(), Duration: time.Since(s.began), Changes: res.Changes,
		Result: resultOf(err), Outputs: res.Outputs, OldOutputs: s.deployment.OldStackOutputs(),
	}
	for _, a := range s.deployment.Analyzers() {
		out.Policies = append(out.Policies, a.Info())
	}
	return out
}

// resultOf is how an operation with this error has ended.
func resultOf(err error) stages.RunResult {
	var failed *FailedError
	switch {
	case !errors.As(err, &failed):
		return stages.Succeeded
	case failed.Canceled:
		return stages.Canceled
	}
	return stages.Failed
}
