package operation

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// end does what comes after the program, unless something has failed, and stops the run. It returns the errors that were
// not reported.
func (s *resolved) end(ctx context.Context, p *program, err error) error {
	if err == nil && s.imports == nil && (s.RunsProgram() || s.Stages.Mode != stages.ModeRefresh) {
		err = s.run.EndPhase(s.operations)
	}
	if finishErr := s.run.Finish(err != nil || s.imports != nil); err == nil {
		err = finishErr
	}
	if stages.IsReported(err) {
		err = nil
	}
	s.run.ShutDown()
	p.await()
	s.interrupted = !s.release() && ctx.Err() != nil
	s.Messages(nil)
	return err
}
