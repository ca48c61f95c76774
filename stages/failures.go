package stages

import (
	"fmt"
)

func (f Failure) Error() string {
	if f.URN == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("%s: %v", f.URN, f.Err)
}

// Unwrap returns the cause.
func (f Failure) Unwrap() error { return f.Err }

func (e *ReportedError) Error() string { return e.Err.Error() }

func (e *ReportedError) Unwrap() error { return e.Err }
