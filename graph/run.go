package graph

import (
	"context"
	"errors"
	"fmt"
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
