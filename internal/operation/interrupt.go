package operation

import (
	"context"
	"errors"
	"fmt"
)

// interruptOf returns an error for the end of a context: [context.Canceled] or [context.DeadlineExceeded], with the caller's
// cause.
func interruptOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return &interruptError{err: err, cause: cause}
}

// interruptError has the text of the cause, which is more specific.
type interruptError struct{ err, cause error }

func (e *interruptError) Error() string { return e.cause.Error() }

func (e *interruptError) Unwrap() []error { return []error{e.err, e.cause} }

// WithCause adds the cause of ctx to an error that reports only that ctx has ended.
func WithCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, ctx.Err()) || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w (%w)", err, cause)
}
