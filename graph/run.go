package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
)

// RunError tells what did not get done in [ReadySet.Run]. It does not depend on timing unless the run was cancelled. A
// skipped member is not an error of its own.
type RunError struct {
	Failures   []Failure // ascending by ID
	Skipped    []ID      // members that waited for a failed one, ascending
	NotStarted []ID      // members that the end of the context kept from starting, ascending
	Cause      error     // why the context ended; nil if every member was finished, failed or skipped
}

// Failure is the error of one member.
type Failure struct {
	ID  ID
	Err error
}

// Error counts and names the failures by ID. Callers that have better names print Failures.
func (e *RunError) Error() string {
	if len(e.Failures) == 0 && e.Cause != nil {
		return fmt.Sprintf("%d not started: %v", len(e.NotStarted), e.Cause)
	}
	if len(e.Failures) == 0 {
		return fmt.Sprintf("%d skipped after an earlier failure", len(e.Skipped))
	}
	first := e.Failures[0]
	text := fmt.Sprintf("node %d: %v", first.ID, first.Err)
	if n := len(e.Failures) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Unwrap returns the errors of the members, ascending by ID, and then the cause of a cancellation.
func (e *RunError) Unwrap() []error {
	var out []error
	for _, f := range e.Failures {
		out = append(out, f.Err)
	}
	if e.Cause != nil {
		out = append(out, e.Cause)
	}
	return out
}

// errGoexit stands in for the result of a function that left by runtime.Goexit.
var errGoexit = errors.New("work ended its goroutine without returning")

// Run calls do for every member, at most workers at once (0 or less: as many as are ready), each as soon as what it waits
// for is done. With a choice it starts the lowest ID first, or the highest when dependents go first, so that one worker
// keeps base order or its reverse as far as the graph allows.
//
// A failed member skips only what waits for it; everything else goes on. A panic in do is that member's failure. When ctx
// ends nothing more starts; to stop at the first failure let do cancel ctx. Run always waits for what it started.
//
// The error is a [*RunError], or nil if every member finished. The ReadySet must not be used by others while Run does; it
// may have been used before, and what was handed out then must have ended.
func (r *ReadySet) Run(ctx context.Context, workers int, do func(context.Context, ID) error) error {
	if workers <= 0 {
		workers = max(r.open, 1)
	}
	run := &run{ready: r, queue: heap{less: r.startsBefore}, ctx: ctx, do: do, free: workers}
	run.mu.Lock()
	run.start()
	run.mu.Unlock()
	run.wg.Wait()
	return run.result()
}

func (r *ReadySet) startsBefore(a, b int32) bool {
	if r.direction == DependentsFirst {
		return a > b
	}
	return a < b
}

// run is one call of Run. There is no idle goroutine: whoever ends a piece of work starts what has become ready.
type run struct {
	ctx context.Context
	do  func(context.Context, ID) error
	wg  conc.WaitGroup

	mu       sync.Mutex // guards the fields below
	ready    *ReadySet
	queue    heap
	free     int // workers
	failures []Failure
}

// start starts as much as is ready and has a worker. The caller holds the lock and, except for the first call, is itself a
// member of the wait group, which therefore cannot have been waited for yet.
func (r *run) start() {
	for _, i := range r.ready.fresh {
		r.queue.push(i)
	}
	r.ready.fresh = nil
	for r.free > 0 && r.queue.len() > 0 && r.ctx.Err() == nil {
		i := r.queue.pop()
		r.ready.status[i] = started
		r.free--
		id := r.ready.s.ids[i]
		r.wg.Go(func() { r.work(id) })
	}
}

func (r *run) work(id ID) {
	err := errGoexit
	defer func() { r.end(id, err) }()
	var caught panics.Catcher
	var failure error
	caught.Try(func() { failure = r.do(r.ctx, id) })
	if p := caught.Recovered(); p != nil {
		failure = p.AsError()
	}
	err = failure
}

func (r *run) end(id ID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free++
	if err != nil {
		r.failures = append(r.failures, Failure{id, err})
		r.ready.Fail(id)
	} else {
		r.ready.Finish(id)
	}
	r.start()
}

func (r *run) result() error {
	// What was ready but never started goes back, so that the set is as if it had never been taken.
	r.ready.fresh = append(r.ready.fresh, r.queue.items...)
	e := &RunError{Failures: r.failures, Skipped: r.ready.Skipped(), NotStarted: r.ready.NotStarted()}
	if len(e.NotStarted) > 0 {
		e.Cause = context.Cause(r.ctx)
	}
	if len(e.Failures) == 0 && len(e.Skipped) == 0 && e.Cause == nil {
		return nil
	}
	slices.SortFunc(e.Failures, func(a, b Failure) int { return int(a.ID) - int(b.ID) })
	return e
}
