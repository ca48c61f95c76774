package composing

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Ask requests a person's approval of deletes, and waits for the answer, or until the context ends.
type Ask func(ctx context.Context, deletes []stages.Deleting) (bool, error)

// Approval is a stage for the slot Deleting that holds deletes until a person has approved them. It calls ask once for each group of deletes, and not
// in a preview.
func Approval(ask Ask) func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
	return func(op stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
		var group []stages.Deleting
		return pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "approval",
			Run: func(_ context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
				if op.Info.DryRun || !d.IsManaged() {
					return emit(d)
				}
				group = append(group, d)
				return nil
			},
			Flush: func(ctx context.Context, emit pipeline.Emit[stages.Deleting]) error {
				asked := group
				group = nil // the next group is another question
				if len(asked) == 0 {
					return nil
				}
				agreed, err := ask(ctx, asked)
				if err != nil {
					return err
				}
				if !agreed {
					return asked[0].Refuse("nobody has approved the delete")
				}
				for _, d := range asked {
					if err := emit(d); err != nil {
						return err
					}
				}
				return nil
			},
		}
	}
}
