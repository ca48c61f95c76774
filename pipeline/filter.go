package pipeline

import "context"

// Filter is a stage that passes on the items for which keep returns true. The others end there: keep must have answered whoever waits for such
// an item (see [Rejecter]). keep is called for one item at a time; it may keep state, like any stage.
func Filter[T any](name string, keep func(T) bool) Stage[T, T] {
	mustHave(keep != nil, name, "a function that says what to keep")
	return Stage[T, T]{Name: name, Run: func(_ context.Context, v T, emit Emit[T]) error {
		if !keep(v) {
			return nil
		}
		return emit(v)
	}}
}
