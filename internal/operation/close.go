package operation

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/stages"
)

const (
	cancelTimeout    = 30 * time.Second // protocol.md 1.13
	configureTimeout = 5 * time.Second  // for providers that are still being configured when the run ends
)

// close is the fifth phase: it ends everything, emits the last events and builds the outcome.
func close(ctx context.Context, s *resolved, e ended) *Outcome {
	errs := slices.Concat(e.errs, s.closeAll(context.WithoutCancel(ctx), e))
	for _, err := range errs {
		s.run.Fail(err)
	}
	out := &Outcome{Results: s.opened.again.merge(s.run.Results()), Interrupt: e.interrupt}
	s.opened.events.masks.results(&out.Results)
	out.Ended, out.Err = s.result(out.Results.Failures, len(errs) == 0, e)
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
