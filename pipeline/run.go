package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sourcegraph/conc"
)

// run is the state of one call of Run.
type run struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   <-chan struct{} // ctx.Done(), looked up once
	wg     conc.WaitGroup
	steps  int // how many nodes there are

	mu       sync.Mutex
	failures []failure
}

type failure struct {
	stage int
	rank  rank
	err   *StageError
}

func newRun(parent context.Context) *run {
	ctx, cancel := context.WithCancelCause(parent)
	return &run{ctx: ctx, cancel: cancel, done: ctx.Done()}
}

func (r *run) isOver() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// reason returns the reason why the run is over, in the form that waiting callers get.
func (r *run) reason() error {
	cause := context.Cause(r.ctx)
	if cause == nil {
		return ErrStopped
	}
	if stopped, ok := cause.(*StoppedError); ok {
		return stopped
	}
	return &StoppedError{Cause: cause}
}

// isConsequence reports whether err only repeats that the run is over. The same error before the end comes from elsewhere, and its item would be lost.
func (r *run) isConsequence(err error) bool {
	return r.isOver() && (errors.Is(err, ErrStopped) || errors.Is(err, r.ctx.Err()) || errors.Is(err, context.Cause(r.ctx)))
}

// result is the result of Run once all goroutines have ended. Errors are ordered by stage, then by the item's rank, then
// by text: never by completion time.
func (r *run) result(parent context.Context) error {
	cause := context.Cause(parent)
	if len(r.failures) == 0 {
		return cause
	}
	slices.SortStableFunc(r.failures, func(a, b failure) int {
		return cmp.Or(
			cmp.Compare(a.stage, b.stage),
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(a.err.Error(), b.err.Error()),
		)
	})
	all := &RunError{}
	for _, f := range r.failures {
		all.Errors = append(all.Errors, f.err)
	}
	if cause != nil {
		all.Errors = append(all.Errors, cause)
	}
	return all
}

// node is one step of a running flow.
type node struct {
	run   *run
	index int // in the order of the flow
	name  string
}

func (r *run) addNode(name string) *node {
	n := &node{run: r, index: r.steps, name: name}
	r.steps++
	return n
}

// fail records err, ends the run, and returns the error with which the item is rejected.
func (n *node) fail(rk rank, err error) error {
	if n.run.isConsequence(err) {
		if err == ErrStopped {
			return n.stopped()
		}
		if !errors.Is(err, ErrStopped) {
			err = &StoppedError{Cause: err}
		}
		return &StageError{Stage: n.name, Err: err}
	}
	wrapped := &StageError{Stage: n.name, Err: err}
	n.run.mu.Lock()
	n.run.failures = append(n.run.failures, failure{stage: n.index, rank: rk, err: wrapped})
	n.run.mu.Unlock()
	n.run.cancel(&StoppedError{Cause: wrapped})
	return wrapped
}

// stopped is the error for an item that n did not process because the run is over.
func (n *node) stopped() error { return &StageError{Stage: n.name, Err: n.run.reason()} }

// drop rejects an item that came too late to be processed.
func drop[T any](n *node, v T) { reject(n, v, n.stopped()) }

// workOn runs f for one input and rejects the input if f did not succeed.
func workOn[T any](n *node, v T, fallback rank, f func() error) {
	Attempt(f, func(err error) {
		if err != nil {
			reject(n, v, n.failFor(v, fallback, err))
		}
	})
}

// failFor is fail for an error that belongs to item v.
func (n *node) failFor(v any, fallback rank, err error) error {
	if p, ok := err.(*PanicError); ok && p.Item == "" {
		p.Item = nameOf(v)
	}
	return n.fail(rankOf(v, fallback), err)
}
