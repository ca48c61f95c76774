package pipeline

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/sourcegraph/conc/panics"
)

// Rejecter is an item that a caller waits for. Reject informs that caller that the item goes no further, and why. It must
// be idempotent, safe for concurrent use, and must not block.
//
// The runtime calls Reject on an item
//
//   - whose stage returned an error or panicked (with that error),
//   - that a stage received after the run had ended,
//   - that was emitted but could not be handed over ([Emit] returned [ErrStopped]),
//   - that lay in a buffer when the run ended.
//
// The error is a [*StageError] that names the stage. errors.Is(err, [ErrStopped]) holds in the last three cases, and in the
// first one if the stage only reported that the run was over, which distinguishes them from a failure of the item. The
// runtime never rejects an input for which the stage's function returned nil: the stage has emitted it, answered it or kept
// it. A stage must itself emit or reject the items that it keeps, in Flush or Abandon.
//
// Reject is looked up on the item's own type: if the method has a pointer receiver, the flow must carry pointers.
type Rejecter interface {
	Reject(err error)
}

// Sequencer is an item with a place. [Run] lists the errors of one stage by this number, so that the list does not
// depend on which item finished first. Items without it are listed in the order in which they were handed to the stage.
type Sequencer interface {
	Sequence() int64
}

// rank orders the errors of one stage.
type rank = int64

// lastRank is the rank of errors that a stage makes after its inputs.
const lastRank rank = math.MaxInt64

// rankOf copies v to the heap. Use it only for failures and in rare cases.
func rankOf[T any](v T, fallback rank) rank {
	if s, ok := any(v).(Sequencer); ok {
		return s.Sequence()
	}
	return fallback
}

// isSequencer reports whether every T is a Sequencer. It is false if T is an interface: only a value shows that.
func isSequencer[T any]() bool {
	var zero T
	_, ok := any(zero).(Sequencer)
	return ok
}

// reject calls Reject of v, if v has it. A panic of Reject is one more failure of the stage.
func reject[T any](n *node, v T, err error) {
	s, ok := any(v).(Rejecter)
	if !ok {
		return
	}
	if p := panics.Try(func() { s.Reject(err) }); p != nil {
		n.fail(lastRank, &PanicError{Item: nameOf(v), Value: p.Value, Stack: p.Stack})
	}
}

// nameOf returns the text of v's String method, or "".
func nameOf[T any](v T) (name string) {
	s, ok := any(v).(fmt.Stringer)
	if !ok {
		return ""
	}
	// A broken String method must not hide the panic that is being described.
	_ = panics.Try(func() { name = s.String() })
	return name
}

// Attempt calls f and passes its error to end, whichever way f ends: it returns, panics, which gives a [*PanicError], or leaves its goroutine by
// [runtime.Goexit], as testing.T.FailNow does. In the last case end still runs, and the goroutine dies. The error is [Readable].
func Attempt(f func() error, end func(error)) {
	var err error
	returned := false
	defer func() {
		if !returned {
			err = errExited
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
		}
		end(err)
	}()
	err = Readable(f())
	returned = true
}

// Readable returns err, or a [*PanicError] if the methods of err or of what it wraps panic, as those of a nil pointer do. Errors are read in many
// places, and nothing would catch the panic there.
func Readable(err error) error {
	if err == nil {
		return nil
	}
	p := panics.Try(func() {
		_ = err.Error()
		_ = errors.Is(err, errNone) // calls the methods of all errors that it wraps
	})
	if p == nil {
		return err
	}
	return &PanicError{Value: fmt.Sprintf("a method of the returned error, a %T, panicked (is it a nil pointer?): %v", err, p.Value), Stack: p.Stack}
}
