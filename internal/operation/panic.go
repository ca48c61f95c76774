package operation

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline"
)

// caught returns the error of f, or its panic as an error that includes doing.
func caught(doing string, f func() error) (err error) {
	if p := panics.Try(func() { err = f() }); p != nil {
		var earlier *pipeline.PanicError
		if e, _ := p.Value.(error); errors.As(e, &earlier) { // a panic of another goroutine, raised again
			return fmt.Errorf("%s: %w", doing, e)
		}
		return fmt.Errorf("%s: %w", doing, &pipeline.PanicError{Value: p.Value, Stack: p.Stack})
	}
	return err
}

// panicError is the panic of a program in one line. The stack is in the error that it wraps.
type panicError struct {
	panic *pipeline.PanicError
	at    string // "<file>:<line>", "" if it is not known
}

func (e *panicError) Error() string {
	text, _, _ := strings.Cut(e.panic.Error(), "\n")
	if e.at != "" {
		text += " (" + e.at + ")"
	}
	return text
}

// Unwrap returns the panic with its stack.
func (e *panicError) Unwrap() error { return e.panic }

// panicked returns the error for a panic of a program, which names the line that panicked.
func panicked(p *panics.Recovered) error {
	for again, _ := p.Value.(*panics.Recovered); again != nil; again, _ = p.Value.(*panics.Recovered) {
		p = again // a panic of another goroutine, raised again
	}
	e := &panicError{panic: &pipeline.PanicError{Value: p.Value, Stack: p.Stack}}
	frames, raised := runtime.CallersFrames(p.Callers), false
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			raised = raised || strings.HasPrefix(f.Function, "runtime.gopanic") || strings.HasPrefix(f.Function, "runtime.panic")
		case raised:
			e.at = fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
			return e
		}
		if !more {
			return e
		}
	}
}
