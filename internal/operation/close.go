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

// close is the fifth phase: it ends everything, emits the last events and builds the outcome.
func close(ctx context.Context, s *resolved, e ended) *Outcome {
	errs := multierror.Append(nil, append([]error{e.err}, s.closeAll(context.WithoutCancel(ctx), e)...)...).Errors
	for _, err := range errs {
		s.run.Fail(err)
	}
	out := &Outcome{Results: s.run.Results(), Interrupt: e.interrupt}
	s.opened.events.masks.results(&out.Results)
	out.Ended, out.Err = s.result(out.Failures, len(errs) == 0, e)
	if out.Ended == stages.Failed {
		s.opened.events.showError(s.opened.settings.Name + " failed")
	}
	if out.Ended == stages.Succeeded {
		out.Plan = s.madePlan()
	}
	out.About = s.about(out.Ended)
	s.opened.events.emit(s.summary(out))
	s.opened.events.emit(stages.Ended{})
	if err := s.opened.events.failure(); err != nil && out.Ended != stages.Failed { // it panicked at one of the last events
		out.Ended, out.Err = stages.Failed, multierror.Append(out.Err, err)
	}
	return out
}

// closeAll closes the record and ends everything that runs. It returns the errors that make the operation fail.
func (s *resolved) closeAll(ctx context.Context, e ended) (errs []error) {
	if err := caught("closing the record", func() error { return s.record.close(ctx) }); err != nil {
		errs = append(errs, fmt.Errorf("writing the state: %w", err))
	}
	if err := s.opened.events.failure(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, s.lacking(ctx)...)
	if err := s.server.Close(); err != nil {
		s.opened.settings.Log.Warn("closing the monitor", "error", err)
	}
	if !s.isInterrupted(e) {
		configured, done := context.WithTimeout(s.opened.operations, configureTimeout)
		s.registry.WaitConfigured(configured)
		done()
	}
	if err := s.registry.Close(); err != nil {
		s.opened.settings.Log.Warn("closing providers", "error", err)
	}
	s.packs.close(s.opened.settings.Log)
	s.opened.background.end()
	s.opened.abandon()
	return errs
}

func (s *resolved) isInterrupted(e ended) bool {
	return s.opened.settings.Stopped() || e.interrupt != nil
}

// result returns how the operation has ended, from the failures of its run. whole is false if a failure belongs to the
// operation as a whole; an interrupt explains no such failure.
func (s *resolved) result(failures []stages.Failure, whole bool, e ended) (stages.RunResult, error) {
	var all *multierror.Error
	for _, f := range failures {
		all = multierror.Append(all, f)
	}
	switch err := all.ErrorOrNil(); {
	case whole && (err == nil || s.failedByAborting()) && s.isInterrupted(e):
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
		IsPreview: s.opened.settings.Stages.Info.DryRun, MaybeCorrupt: o.Uncertain, Lost: o.Lost, Kept: o.Kept, Duration: time.Since(s.opened.began), Changes: o.Changes,
		Possible: o.Possible, Result: o.Ended, Outputs: o.Outputs, OldOutputs: o.OldOutputs, LimitWaits: s.registry.LimitWaits(),
	}
	for _, a := range s.packs.analyzers {
		out.Policies = append(out.Policies, a.Info())
	}
	return out
}

func (s *resolved) madePlan() *state.Plan {
	if !s.opened.settings.Stages.MakePlan {
		return nil
	}
	return &state.Plan{
		Manifest:  state.Manifest{Time: s.opened.settings.Stages.Now(), Magic: state.Magic(s.opened.settings.Version), Version: s.opened.settings.Version},
		Resources: s.run.Planned(),
	}
}

// about describes the operation. A preview has the description of the previewed operation.
func (s *resolved) about(ended stages.RunResult) why.About {
	info := s.opened.settings.Stages.Info
	about := why.About{
		Operation: s.opened.settings.Name, Preview: info.DryRun, Project: info.Project, Stack: info.Stack,
		Began: s.opened.began.UTC(), Ended: time.Now().UTC(), Result: ended,
	}
	if info.DryRun {
		switch s.opened.settings.Stages.Mode {
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
