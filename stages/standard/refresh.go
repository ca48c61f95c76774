package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/sweep"
)

// refreshStage returns the stage that reads recorded resources again as the program registers them (steps.md 7.4). It
// uses the provider that the program gives a resource. What it finds is recorded and replaces the recorded state.
// Components and providers are not read. The stage calls providers, in previews too; what is new or left out passes
// through. passes records that a registration has passed.
func refreshStage(r *sweep.Reader, passes *book.ProgressWriter) pipeline.Stage[stages.Located, stages.Located] {
	return pipeline.Stage[stages.Located, stages.Located]{
		Name:    "refresh",
		Workers: r.Access.ReadWorkers(),
		Buffer:  r.Access.ReadWorkers(),
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			if l.Origin != stages.ToReread {
				return emit(l)
			}
			defer passes.Pass(l.Seq)
			l, err := r.RefreshRegistered(ctx, l)
			if err != nil {
				return err
			}
			return emit(l)
		},
	}
}
