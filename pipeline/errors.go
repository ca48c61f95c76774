package pipeline

import (
	"errors"
	"fmt"
	"strings"
)

// ErrStopped is the error of [Emit] once the run is over. Return it unchanged: a stage that ends with it then has not failed by itself, so [Run]
// does not report it. Before the end, it is an error like any other, such as one of another run.
var ErrStopped = errors.New("pipeline stopped")

// StoppedError is the reason why an item did not go further although nothing was wrong with it: the run had ended. It
// is what waiting callers get through [Rejecter], and the cause of the run's context ([context.Cause]).
//
// errors.Is(err, [ErrStopped]) holds for it, which distinguishes it from a failure of the item itself.
type StoppedError struct {
	// Cause is the failure that ended the run, or the cause of the caller's cancellation.
	Cause error
}

func (e *StoppedError) Error() string { return ErrStopped.Error() + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Cause }

// Is reports that a StoppedError is an [ErrStopped].
func (e *StoppedError) Is(target error) bool { return target == ErrStopped }

// StageError is an error together with the stage in which it arose. Every error that [Run] returns is one, except the
// cause of the caller's own cancellation.
type StageError struct {
	Stage string
	Err   error
}

func (e *StageError) Error() string { return e.Stage + ": " + e.Err.Error() }

// Unwrap returns the stage's own error.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic in a stage's function. Its text is one line; the stack is for a bug report.
type PanicError struct {
	// Item is the item of the call, if the item has a String method; otherwise it is empty.
	Item string
	// Value is the argument of panic.
	Value any
	// Stack is the stack of the goroutine at the moment of the panic, as runtime/debug prints it.
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.Item == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	return fmt.Sprintf("panic while working on %s: %v", e.Item, e.Value)
}

// Unwrap returns the panic's value if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errNone is never returned.
var errNone = errors.New("none")

// errExited is reported for a function that ended its goroutine instead of returning.
var errExited = errors.New("the function called runtime.Goexit, as testing.T.FailNow does; it must return")

// RunError is the error of a run that has failed. It has an error for each failure.
type RunError struct{ Errors []error }

// Error returns the text of the only error, or lists several, one on each line.
func (e *RunError) Error() string {
	if len(e.Errors) == 1 {
		return e.Errors[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d errors:", len(e.Errors))
	for _, err := range e.Errors {
		b.WriteString("\n  * ")
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap returns the errors.
func (e *RunError) Unwrap() []error { return e.Errors }
