package slot

import (
	"context"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Maker makes a stage for one operation.
type Maker[T any] = func(stages.Operation) pipeline.Stage[T, T]

// Make calls the constructors of the stages in the slot with this name. It returns an error for the first stage that cannot be made or
// used.
func Make[T any](slot string, op stages.Operation, constructors []Maker[T]) ([]pipeline.Stage[T, T], error) {
	var made []pipeline.Stage[T, T]
	for i, newStage := range constructors {
		if newStage == nil {
			return nil, fmt.Errorf("the constructor of stage %d in the slot %s is nil; give Insert a function", i+1, slot)
		}
		st, err := usable(func() pipeline.Stage[T, T] { return newStage(op) })
		if err != nil {
			return nil, fmt.Errorf("stage %d in the slot %s: %w", i+1, slot, err)
		}
		made = append(made, st)
	}
	return made, nil
}

// Replacer makes a stage that replaces a standard one, which it may use.
type Replacer[In, Out any] = func(op stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out]

// Replace returns the replacement of the standard stage with this name, or the standard stage itself if there is no replacer.
func Replace[In, Out Item](
	name string, op stages.Operation, standard pipeline.Stage[In, Out], replacer Replacer[In, Out], to Reports,
) (pipeline.Stage[In, Out], error) {
	if replacer == nil {
		return standard, nil
	}
	rule, standard := placeRule(standard)
	st, err := usable(func() pipeline.Stage[In, Out] { return replacer(op, standard) })
	if err != nil {
		return st, fmt.Errorf("the stage in place of the standard stage %s: %w", name, err)
	}
	return guarded(name, st, to, rule, nil), nil
}

// usable returns the stage of a constructor, or an error if the constructor panics or the stage is not complete.
func usable[In, Out any](newStage func() pipeline.Stage[In, Out]) (st pipeline.Stage[In, Out], _ error) {
	if p := panics.Try(func() { st = newStage() }); p != nil {
		return st, fmt.Errorf("its constructor: %w", &pipeline.PanicError{Value: p.Value, Stack: p.Stack})
	}
	// Package pipeline checks a stage when a flow is built.
	if p := panics.Try(func() { pipeline.Via(pipeline.From("items", 0, nothing[In]), st) }); p != nil {
		return st, fmt.Errorf("it cannot be used: %v", p.Value)
	}
	return st, nil
}

func nothing[T any](context.Context, pipeline.Emit[T]) error { return nil }
