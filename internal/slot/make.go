package slot

import (
	"context"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline"
)

// Make calls the constructors of the stages in the slot with this name. It returns an error for the first stage that cannot be made or
// used.
func Make[T any](slot string, constructors []func() pipeline.Stage[T, T]) ([]pipeline.Stage[T, T], error) {
	var made []pipeline.Stage[T, T]
	for i, newStage := range constructors {
		if newStage == nil {
			return nil, fmt.Errorf("the constructor of stage %d in the slot %s is nil; give Insert a function", i+1, slot)
		}
		var st pipeline.Stage[T, T]
		if p := panics.Try(func() { st = newStage() }); p != nil {
			return nil, fmt.Errorf("the constructor of stage %d in the slot %s: %w", i+1, slot, &pipeline.PanicError{Value: p.Value, Stack: p.Stack})
		}
		// Package pipeline says what a stage needs, where a flow is described.
		if p := panics.Try(func() { pipeline.Via(pipeline.From("items", 0, nothing[T]), st) }); p != nil {
			return nil, fmt.Errorf("stage %d in the slot %s cannot be used: %v", i+1, slot, p.Value)
		}
		made = append(made, st)
	}
	return made, nil
}

func nothing[T any](context.Context, pipeline.Emit[T]) error { return nil }
