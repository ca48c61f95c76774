package composing

import (
	"context"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
)

// Drifted is a stack whose objects differ from the recorded ones, or whose objects cannot be read.
type Drifted struct {
	Stack  string
	Result *sluice.Result
	Err    error
}

// Drift reads the objects of stacks, several at once, and reports the stacks that have drifted, one at a time. It changes and records nothing, so it
// needs no locks.
func Drift(ctx context.Context, stacks []sluice.Options, atOnce int, report func(Drifted)) error {
	all := pipeline.From("stacks", 0, func(_ context.Context, emit pipeline.Emit[sluice.Options]) error {
		for _, o := range stacks {
			if err := emit(o); err != nil {
				return err
			}
		}
		return nil
	})
	looked := pipeline.Via(all, pipeline.Stage[sluice.Options, Drifted]{
		Name: "refresh", Workers: atOnce,
		Run: func(ctx context.Context, o sluice.Options, emit pipeline.Emit[Drifted]) error {
			result, err := sluice.PreviewRefresh(ctx, o)
			return emit(Drifted{Stack: o.Stack, Result: result, Err: err}) // an error of one stack does not stop the others
		},
	})
	drifted := pipeline.Via(looked, pipeline.Filter("drifted", func(d Drifted) bool { return d.Err != nil || d.Result.HasChanges() }))
	return pipeline.Run(ctx, drifted, func(_ context.Context, d Drifted) error {
		report(d)
		return nil
	})
}
