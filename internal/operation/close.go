package operation

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
)

const (
	cancelTimeout    = 30 * time.Second // protocol.md 1.13
	configureTimeout = 5 * time.Second  // for providers that are still being configured when the run ends
)

// close ends everything, emits the last events and builds the result. The run has ended with runErr.
func (s *resolved) close(ctx context.Context, runErr error) *Outcome {
	errs := multierror.Append(nil, append([]error{runErr}, s.closeAll(context.WithoutCancel(ctx))...)...).Errors
	for _, err := range errs {
		s.run.Fail(err)
	}
	out := &Outcome{Results: s.run.Results(), Interrupt: s.interrupt}
	s.masks.results(&out.Results)
	out.Ended, out.Err = s.conclude(out.Failures, len(errs) == 0)
	if out.Ended == stages.Failed {
		s.showError(s.Name + " failed")
	}
	if out.Ended == stages.Succeeded {
		out.Plan = s.madePlan()
	}
	out.About = s.about(out.Ended)
	s.emit(s.summary(out))
	s.emit(stages.Ended{})
	if err := s.events.failure(); err != nil && out.Ended != stages.Failed { // it panicked at one of the last events
		out.Ended, out.Err = stages.Failed, multierror.Append(out.Err, err)
	}
	return out
}

// closeAll closes the record and ends everything that runs. It returns the errors that make the operation fail.
func (s *resolved) closeAll(ctx context.Context) (errs []error) {
	if err := caught("closing the record", func() error { return s.record.close(ctx) }); err != nil {
		errs = append(errs, fmt.Errorf("writing the state: %w", err))
	}
	if err := s.events.failure(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, s.lacking(ctx)...)
	if err := s.server.Close(); err != nil {
		s.Log.Warn("closing the monitor", "error", err)
	}
	if !s.isInterrupted() {
		configured, done := context.WithTimeout(s.operations, configureTimeout)
		s.registry.WaitConfigured(configured)
		done()
	}
	if err := s.registry.Close(); err != nil {
		s.Log.Warn("closing providers", "error", err)
	}
	s.packs.close(s.Log)
	s.background.end()
	s.abandon()
	return errs
}

func (s *resolved) isInterrupted() bool { return s.Stopped() || s.interrupt != nil }

// conclude returns how the operation has ended, from the failures of its run. whole is false if a failure belongs to the
// operation as a whole; an interrupt explains no such failure.
func (s *resolved) conclude(failures []stages.Failure, whole bool) (stages.RunResult, error) {
	var all *multierror.Error
	for _, f := range failures {
		all = multierror.Append(all, f)
	}
	switch err := all.ErrorOrNil(); {
	case whole && (err == nil || s.failedByAborting()) && s.isInterrupted():
		return stages.Canceled, err
	case err == nil:
		return stages.Succeeded, nil
	default:
		return stages.Failed, err
	}
}

// failedByAborting reports whether there were no failures before the providers were canceled. Errors of aborted calls
// are then expected, and are no failures of the operation.
func (s *resolved) failedByAborting() bool {
	before := s.failedBefore.Load()
	return before != nil && !*before
}

func (s *resolved) summary(o *Outcome) stages.Summary {
	out := stages.Summary{
		IsPreview: s.Stages.Info.DryRun, MaybeCorrupt: o.Uncertain, Lost: o.Lost, Kept: o.Kept, Duration: time.Since(s.began), Changes: o.Changes,
		Possible: o.Possible, Result: o.Ended, Outputs: o.Outputs, OldOutputs: o.OldOutputs, LimitWaits: s.registry.LimitWaits(),
	}
	for _, a := range s.packs.analyzers {
		out.Policies = append(out.Policies, a.Info())
	}
	return out
}

func (s *resolved) madePlan() *state.Plan {
	if !s.Stages.MakePlan {
		return nil
	}
	return &state.Plan{
		Manifest:  state.Manifest{Time: s.Stages.Now(), Magic: state.Magic(s.Version), Version: s.Version},
		Resources: s.run.Planned(),
	}
}

// about describes the operation. A preview has the description of the previewed operation.
func (s *resolved) about(ended stages.RunResult) why.About {
	info := s.Stages.Info
	about := why.About{
		Operation: s.Name, Preview: info.DryRun, Project: info.Project, Stack: info.Stack,
		Began: s.began.UTC(), Ended: time.Now().UTC(), Result: ended,
	}
	if info.DryRun {
		switch s.Stages.Mode {
		case stages.ModeDestroy:
			about.Operation = "destroy"
		case stages.ModeRefresh:
			about.Operation = "refresh"
		default:
			about.Operation = "update"
		}
	}
	return about
}
