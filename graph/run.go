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

// Failure is the error of one piece of work.
type Failure struct {
	ID  ID
	Err error
}

func (f Failure) Error() string { return fmt.Sprintf("node %d: %v", f.ID, f.Err) }

// Unwrap returns the error.
func (f Failure) Unwrap() error { return f.Err }

// errGoexit is the result of a function that left by runtime.Goexit.
var errGoexit = errors.New("work ended its goroutine without returning")

// Run calls do for all work that is in the set and all that becomes ready later, each piece in a goroutine of its own as soon
// as the work before it is finished. Work that fails skips only the work that waits for it. A panic in do is a failure of
// that work. When ctx ends nothing more begins. Run waits for all work that it started; the set must not be used by others
// meanwhile.
//
// The error joins the [Failure]s, ascending by ID. If the end of ctx prevented work from beginning, its cause follows.
func (r *ReadySet) Run(ctx context.Context, do func(context.Context, ID) error) error {
	run := &run{ready: r, ctx: ctx, do: do}
	run.mu.Lock()
	run.start()
	run.mu.Unlock()
	run.wg.Wait()
	slices.SortFunc(run.failures, func(a, b Failure) int { return int(a.ID) - int(b.ID) })
	var errs []error
	for _, f := range run.failures {
		errs = append(errs, f)
	}
	if r.free.len() > 0 {
		errs = append(errs, context.Cause(ctx))
	}
	return errors.Join(errs...)
}

// run is one call of Run. There is no idle goroutine: the goroutine that ends a piece of work starts the work that has become ready.
type run struct {
	ctx context.Context
	do  func(context.Context, ID) error
	wg  conc.WaitGroup

	mu       sync.Mutex // guards the fields below
	ready    *ReadySet
	failures []Failure
}

// start starts all work that is ready. The caller holds the lock. Except for the first call, the caller is a member of the
// wait group, so no Wait can have returned yet.
func (r *run) start() {
	for r.ctx.Err() == nil {
		id, ok := r.ready.Next()
		if !ok {
			return
		}
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
	if err != nil {
		r.failures = append(r.failures, Failure{id, err})
		r.ready.Fail(id)
	} else {
		r.ready.Finish(id)
	}
	r.start()
}
