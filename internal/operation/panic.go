package operation

import (
	"errors"
	"fmt"

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
