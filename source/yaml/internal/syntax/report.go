package syntax

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrReported is the error of what cannot be done because of a mistake that has been reported, by a diagnostic or by the
// engine.
var ErrReported = errors.New("what is wrong has been reported")

// Report collects the diagnostics of one run. It is safe for many goroutines.
type Report struct {
	mu   sync.Mutex // guards list
	list Diagnostics
}

// NewReport returns a report that has diagnostics already.
func NewReport(found Diagnostics) *Report { return &Report{list: slices.Clone(found)} }

// Add adds a diagnostic.
func (r *Report) Add(d Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list.Add(d)
}

// Fail adds an error and returns ErrReported. The hint may be "".
func (r *Report) Fail(at Range, hint, format string, args ...any) error {
	r.Add(Diagnostic{Severity: Error, Range: at, Summary: fmt.Sprintf(format, args...), Hint: hint})
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
