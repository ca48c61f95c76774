package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/sweep"
)

// refreshStage is the stage that reads recorded resources again as the program registers them (steps.md 7.4): what is found,
// with the provider that the program gives them, is recorded and takes the place of the recorded state. Of components and
// providers there is nothing to read. It calls providers, in previews too; what is new or not part of the operation passes
// through.
func refreshStage(r *sweep.Reader) pipeline.Stage[stages.Located, stages.Located] {
	return pipeline.Stage[stages.Located, stages.Located]{
		Name:    "refresh",
		Workers: access.ReadWorkers,
		Buffer:  access.ReadWorkers,
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			if l.Origin != stages.ToReread {
				return emit(l)
			}
			defer r.Progress.Pass(l.Seq, book.Reread)
			l, err := r.RefreshRegistered(ctx, l)
			if err != nil {
				return err
			}
			return emit(l)
		},
	}
}
