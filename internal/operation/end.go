package operation

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// end carries out the end phase after the program, unless something has failed, and stops the run. It returns the errors
// that were not reported.
func (s *resolved) end(ctx context.Context, p *program, err error) error {
	if err == nil {
		s.run.JudgeProgram()
	}
	if err == nil && s.imports == nil && (s.RunsProgram() || s.Stages.Mode != stages.ModeRefresh) {
		err = caught("deleting what is left", func() error { return s.run.EndPhase(s.operations, s.assembly) })
	}
	failed := err != nil || s.imports != nil
	if finishErr := caught("ending the run", func() error { return s.run.Finish(failed) }); err == nil {
		err = finishErr
	}
	if stages.IsReported(err) {
		err = nil
	}
	s.run.ShutDown()
	grace := programGrace
	if s.isInterrupted() || ctx.Err() != nil {
		grace = interruptedGrace
	}
	p.await(grace)
	if err == nil {
		s.run.JudgeProgram() // it may have failed in the meantime
	}
	if !s.release() && ctx.Err() != nil {
		s.interrupt = interruptOf(ctx)
	}
	s.Messages(nil)
	return err
}
