package slot

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
)

// Group has the stages of a slot that items pass in groups: all items of a group have passed before any of them goes on. It is safe for
// concurrent use, but its stages process one group at a time.
type Group[T Item] struct {
	slot   string
	stages []pipeline.Stage[T, T]
	to     Reports
	turn   *await.Slots // taken while a group passes
}

// NewGroup returns the group of the stages in the slot with this name, guarded as by [Guard].
func NewGroup[T Item](slot string, stages []pipeline.Stage[T, T], to Reports) *Group[T] {
	return &Group[T]{slot: slot, stages: stages, to: to, turn: await.NewSlots(1)}
}

// Pass sends a group through the stages, and returns nil only if all of its items have come out. Groups pass in the order of the calls.
func (g *Group[T]) Pass(ctx context.Context, items []T) error {
	if err := g.turn.Acquire(ctx); err != nil {
		return err
	}
	defer g.turn.Release()
	flow := pipeline.From("items", 0, func(_ context.Context, emit pipeline.Emit[T]) error {
		for _, item := range items {
			if err := emit(item); err != nil {
				return err
			}
		}
		return nil
	})
	for _, st := range g.stages {
		guarded := Guard(g.slot, st, g.to)
		guarded.Idle = nil // only the end of the group is waited for
		flow = pipeline.Via(flow, guarded)
	}
	passed := 0
	err := pipeline.Run(ctx, flow, func(context.Context, T) error { passed++; return nil })
	if err == nil && passed != len(items) {
		lost := &stages.SlotError{Slot: g.slot, Problem: fmt.Sprintf("of a group of %d, %d have passed, and no error says why; none of them goes on", len(items), passed)}
		return cmp.Or[error](g.to.Refuse(lost, false), lost)
	}
	return err
}
