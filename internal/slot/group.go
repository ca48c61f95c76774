package slot

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
)

// Group has the stages of a slot that items pass in groups: all items of a group have passed before any of them goes on. It is safe for
// concurrent use, but its stages process one group at a time.
type Group[T Item] struct {
	Slot   string
	Stages []pipeline.Stage[T, T]
	Refuse Refuse

	turn sync.Mutex // held while a group passes
}

// Pass sends a group through the stages, and returns their error.
func (g *Group[T]) Pass(ctx context.Context, items []T) error {
	g.turn.Lock()
	defer g.turn.Unlock()
	flow := pipeline.From("items", 0, func(_ context.Context, emit pipeline.Emit[T]) error {
		for _, item := range items {
			if err := emit(item); err != nil {
				return err
			}
		}
		return nil
	})
	for _, st := range g.Stages {
		guarded := Guard(g.Slot, st, g.Refuse)
		guarded.Idle = nil // only the end of the group is waited for
		flow = pipeline.Via(flow, guarded)
	}
	return pipeline.Run(ctx, flow, nil)
}
