package operation

import (
	"context"
	"errors"
	"fmt"
)

// interruptOf returns an error for the end of a context: [context.Canceled] or [context.DeadlineExceeded], and the cause that the
// caller has given.
func interruptOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return &interruptError{err: err, cause: cause}
}

// interruptError reads like the cause, which says more.
type interruptError struct{ err, cause error }

func (e *interruptError) Error() string { return e.cause.Error() }

func (e *interruptError) Unwrap() []error { return []error{e.err, e.cause} }

// WithCause adds the cause of ctx to an error that says no more than that ctx has ended.
func WithCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, ctx.Err()) || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w (%w)", err, cause)
}
