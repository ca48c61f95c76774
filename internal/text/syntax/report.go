package syntax

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/advice"
)

// ErrReported is the error of an evaluation that a mistake prevents. A diagnostic or the engine has reported the mistake.
var ErrReported = errors.New("the mistake has been reported")

// Report collects the diagnostics of one run. It is safe for many goroutines.
type Report struct {
	mu   sync.Mutex // guards list
	list Diagnostics
}

// NewReport returns a report with the diagnostics in found.
func NewReport(found Diagnostics) *Report { return &Report{list: slices.Clone(found)} }

// Add adds a diagnostic.
func (r *Report) Add(d Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list.Add(d)
}

// Fail adds an error and returns ErrReported. The hint may be "". An error that is formatted by %w adds its advice.
func (r *Report) Fail(at Range, hint, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	r.Add(Diagnostic{Severity: Error, Range: at, Summary: err.Error(), Hint: hint, Advice: advice.Of(err)})
	return ErrReported
}

// Warn adds a warning. The hint may be "".
func (r *Report) Warn(at Range, hint, format string, args ...any) {
	r.Add(Diagnostic{Severity: Warning, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
}

// Errors counts the errors.
func (r *Report) Errors() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list.Errors()
}

// Sorted returns the diagnostics in the order of the file. Those for one place are in the order in which they were added.
func (r *Report) Sorted() Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.list)
	list.Sort()
	return list
}
