package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/urn"
)

// Failure is something that makes a run fail. Everything about it has already been shown as a diagnostic.
type Failure struct {
	Seq int // of the registration, 0 for what belongs to none
	URN urn.URN
	Err error
}

func (f Failure) Error() string {
	if f.URN == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("%s: %v", f.URN, f.Err)
}

// Unwrap returns the cause.
func (f Failure) Unwrap() error { return f.Err }

// failures collects what went wrong in a run.
type failures struct {
	mu   sync.Mutex
	list []Failure
	said map[string]bool
}

// once reports whether this is the first time that it is asked about something.
func (f *failures) once(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said[what] {
		return false
	}
	if f.said == nil {
		f.said = map[string]bool{}
	}
	f.said[what] = true
	return true
}

func (f *failures) add(x Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, x)
}

// sorted returns the failures in an order that does not depend on when they happened.
func (f *failures) sorted() []Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b Failure) int {
		// Copies of one resource are read and deleted at once: their texts tell them apart.
		return cmp.Or(cmp.Compare(a.URN, b.URN), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	return list
}

func (f *failures) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.list) > 0
}

// ReportedError stops the pipeline. What it stands for has been reported and recorded.
type ReportedError struct{ Err error }

func (e *ReportedError) Error() string { return e.Err.Error() }
func (e *ReportedError) Unwrap() error { return e.Err }

// Failures returns what went wrong, ordered by URN.
func (r *control) Failures() []Failure { return r.failed.sorted() }

// hasFailed reports whether anything went wrong.
func (r *control) hasFailed() bool { return r.failed.any() }

// fail makes the run fail: it shows what went wrong at a resource, and records it. seq is the number of the registration, 0
// for what belongs to none. It is the only way to make a run fail, and does not stop it. The code is [codeShown] for what has
// been shown already.
func (r *control) fail(seq int, u urn.URN, code int, err error) {
	if code != codeShown {
		r.diagnose(u, Error, code, err.Error())
	}
	r.failed.add(Failure{Seq: seq, URN: u, Err: err})
}

// bail is fail for what stops the run, and returns the error that stops the pipeline. A call that was given up because the run
// had stopped already is not a failure of its own.
func (r *control) bail(l Located, code int, err error) error {
	if code != codeShown && r.IsHalted() && isCancellation(err) {
		return &ReportedError{err}
	}
	r.fail(l.Seq, l.URN, code, err)
	r.Halt()
	return &ReportedError{err}
}

// isCancellation reports whether a call was given up.
func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, ErrShutDown)
}

// ProgramFailed records that the program ended with an error and stops the run. shown is true if the program has said why.
func (r *control) ProgramFailed(err error, shown bool) {
	if r.hasFailed() {
		r.Halt() // most likely a consequence
		return
	}
	code := 0
	if shown {
		code = codeShown
	}
	r.fail(0, "", code, err)
	r.Halt()
}

// Refuse is bail for the error of a stage that a caller put into the pipeline.
func (r *control) Refuse(err error) error {
	if IsReported(err) || errors.Is(err, pipeline.ErrStopped) {
		return err
	}
	var rejected *RejectedError
	l := Located{}
	if errors.As(err, &rejected) {
		l.URN = rejected.URN
	}
	return r.bail(l, 0, err)
}

// Unrecorded returns the error of a pipeline, nil if the run has been stopped and the error says no more than that: what
// stopped it is recorded, or was somebody's wish.
func (r *control) Unrecorded(err error) error {
	if r.IsHalted() && (IsReported(err) || !errors.As(err, new(*pipeline.StageError))) {
		return nil
	}
	return err
}

// IsReported tells whether err only says that the run stopped because of a failure that is already recorded.
func IsReported(err error) bool { return errors.As(err, new(*ReportedError)) }
