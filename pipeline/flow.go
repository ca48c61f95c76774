package pipeline

import (
	"context"
	"fmt"
)

// Emit hands v to the next step. It blocks while that step is full, and returns [ErrStopped], after rejecting v, once the
// run is over. It may be called from several goroutines at once, but not after the function that it was passed to has
// returned.
type Emit[T any] func(v T) error

// Flow describes the steps joined so far; T is the type of the items that leave the last one. It is a value: nothing
// runs until [Run].
//
// Steps usually keep state in their functions, so a flow should be built anew for every run. A flow that is continued in
// two ways is two flows, each with the common part.
type Flow[T any] struct {
	start func(r *run) *link[T]
}

// From begins a flow. gen is called once per run; it emits values until it has no more, its context ends, or emit
// returns an error. buffer is how many values may wait for the first stage.
func From[T any](name string, buffer int, gen func(ctx context.Context, emit Emit[T]) error) Flow[T] {
	checkStep(name, 1, buffer)
	mustHave(gen != nil, name, "a generator")
	return Flow[T]{start: func(r *run) *link[T] {
		n := r.addNode(name)
		out := newLink[T](n, buffer)
		r.wg.Go(func() {
			defer close(out.ch)
			if r.isOver() {
				return
			}
			workOn(n, struct{}{}, 0, func() error { return gen(r.ctx, out.send) })
		})
		return out
	}}
}

// SinkName is the stage name in errors of a run's sink.
const SinkName = "sink"

// Run drives f into sink and returns when every goroutine of the run has ended. sink is called for one value at a time, in
// the order in which the last stage emitted them. A nil sink discards the values.
//
// The first error ends the run. All steps share one context, which ends then, when ctx does, or when Run returns. A step
// must return soon after its context ends; Run waits for it.
//
// Run returns nil if nothing failed; the cause of ctx ([context.Cause], unwrapped) if it was cancelled and nothing failed;
// otherwise a [*RunError] with one [*StageError] for each failure, ordered by stage, then by the item's place (see
// [Sequencer]), then by text, followed by the cause of ctx if it was cancelled too. errors.As with a *StageError thus
// distinguishes a failure from a cancellation. Errors that only repeat that the run is over are not listed.
func Run[T any](ctx context.Context, f Flow[T], sink func(ctx context.Context, v T) error) error {
	mustHave(f.start != nil, "flow", "a source: begin it with From")
	r := newRun(ctx)
	defer r.cancel(ErrStopped)
	in := f.start(r)
	n := r.addNode(SinkName)
	r.wg.Go(func() {
		runWorkers(r.ctx, 1, in.receive, func(ctx context.Context, p parcel[T]) {
			if r.isOver() {
				drop(n, p.value)
				return
			}
			workOn(n, p.value, p.arrival, func() error {
				if sink == nil {
					return nil
				}
				return sink(ctx, p.value)
			})
		})
	})
	r.wg.Wait()
	return r.result(ctx)
}

// A step that is described wrongly is a bug in the program, so it panics where it is described.

func checkStep(name string, workers, buffer int) {
	mustHave(name != "", "step", "a name")
	if workers < Unbounded {
		panic(fmt.Sprintf("pipeline: %s: %d workers; use a positive number, 0 for one, or Unbounded", name, workers))
	}
	if buffer < 0 {
		panic(fmt.Sprintf("pipeline: %s: a buffer of %d; links are always bounded", name, buffer))
	}
}

func mustHave(ok bool, name, what string) {
	if !ok {
		panic(fmt.Sprintf("pipeline: %s needs %s", name, what))
	}
}
