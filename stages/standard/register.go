package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/requests"
)

// registerBuffer is the number of goals that may wait for their turn without a goroutine each. Programs declare thousands at once,
// and a waiting goal takes a few words where a goroutine takes kilobytes.
const registerBuffer = 8192

// registerStage returns the stage that completes a registration into a goal: validation, inheritance, transforms and the
// choice of a provider (steps.md 1.2). A remote component ends here: its provider constructs it.
//
// The stage calls programs and providers that call back, so each input has a goroutine of its own.
func registerStage(r *requests.Admission) pipeline.Stage[stages.Submitted, stages.Registered] {
	return pipeline.Stage[stages.Submitted, stages.Registered]{
		Name:    "register",
		Workers: pipeline.Unbounded,
		Buffer:  registerBuffer,
		Run: func(ctx context.Context, s stages.Submitted, emit pipeline.Emit[stages.Registered]) error {
			switch {
			case s.Internal != nil:
				return emit(stages.Registered{PendingReply: s.PendingReply, Goal: s.Internal, Internal: true})
			case s.Read != nil:
				goal, err := r.CompleteRead(ctx, s)
				if err != nil {
					s.Reject(err)
					return nil
				}
				return emit(stages.Registered{PendingReply: s.PendingReply, Read: goal})
			}
			c := requests.Completion{Admission: r, Req: s.Register, PendingReply: s.PendingReply}
			goal, err := c.Complete(ctx)
			switch {
			case err != nil:
				// The program has to handle a malformed request; it does not stop the run.
				s.Reject(err)
				return nil
			case s.Register.Remote:
				return c.Construct(ctx, goal)
			}
			return emit(stages.Registered{PendingReply: s.PendingReply, Goal: goal})
		},
	}
}
