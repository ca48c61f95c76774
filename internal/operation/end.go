package operation

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// ended is an operation whose run is over.
type ended struct {
	// errs are the errors that were not reported.
	errs []error
	// interrupt is the reason why the caller's context ended before the run did; nil if it did not.
	interrupt error
}

// end is the fourth phase: it carries out the end phase of the run, unless something has failed, and stops the run.
func end(ctx context.Context, s *resolved, r ran) (out ended) {
	err := r.err
	if err == nil {
		judgeProgram(s)
	}
	if err == nil && s.imports == nil && !s.run.Yields() && (s.opened.settings.RunsProgram() || s.opened.settings.Stages.Mode != stages.ModeRefresh) {
		err = caught("deleting what is left", func() error { return s.run.EndPhase(s.opened.operations, r.assembly) })
	}
	failed := err != nil || s.imports != nil || s.run.Yields()
	if finishErr := caught("ending the run", func() error { return s.run.Finish(failed) }); err == nil {
		err = finishErr
	}
	if err == nil && s.opened.settings.RunsProgram() && !failed && !s.run.HasFailed() {
		for _, message := range s.transit.unused() {
			s.opened.events.warn("", message)
		}
	}
	if stages.IsReported(err) {
		err = nil
	}
	s.run.ShutDown()
	grace := programGrace
	switch {
	case s.run.Yields():
		grace = 0 // it begins again
	case s.opened.settings.Stopped() || ctx.Err() != nil:
		grace = interruptedGrace
	}
	r.program.await(grace)
	if err == nil {
		judgeProgram(s) // it may have failed in the meantime
	}
	if !s.release() && ctx.Err() != nil {
		out.interrupt = interruptOf(ctx)
	}
	s.opened.settings.Messages(nil)
	out.errs = apart(err)
	return out
}

// judgeProgram records that the program ended because the run was over, unless another failure explains it.
func judgeProgram(s *resolved) {
	if s.opened.events.failure() == nil {
		s.run.JudgeProgram()
	}
}

// apart returns the failures in the error of a phase: those of a pipeline one by one, any other error as a whole.
func apart(err error) []error {
	if err == nil {
		return nil
	}
	if all, several := err.(*pipeline.RunError); several { // not one that another error wraps
		return all.Errors
	}
	return []error{err}
}
