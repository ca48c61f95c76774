package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/refresh"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// rereader reads recorded resources again.
type rereader struct {
	reader *refresh.Reader
	passes *rooms.ProgressWriter // of the milestone "reread"
}

// stage returns the stage that reads recorded resources again as the program registers them (steps.md 7.4). It uses the provider
// that the program gives a resource. The result is recorded and replaces the recorded state. Components and providers are not read.
// The stage calls providers, in previews, too; new and left-out resources pass through.
func (rr *rereader) stage() pipeline.Stage[stages.Located, stages.Located] {
	return pipeline.Stage[stages.Located, stages.Located]{
		Name:    "refresh",
		Workers: rr.reader.Access.ReadWorkers(),
		Buffer:  rr.reader.Access.ReadWorkers(),
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			if l.Origin != stages.ToReread {
				return emit(l)
			}
			defer rr.passes.Pass(l.Seq)
			read, err := rr.reader.RefreshRegistered(ctx, l)
			if err != nil {
				read = l
				if err := rr.reader.Control.PassOn(&read, err); err != nil {
					return err
				}
			}
			return emit(read)
		},
	}
}
