package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// once tells whether this is the first time that it is asked about something.
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

// bailError stops the pipeline. What it stands for has been reported and recorded.
type bailError struct{ err error }

func (e *bailError) Error() string { return e.err.Error() }
func (e *bailError) Unwrap() error { return e.err }

// Failures returns what went wrong, ordered by URN.
func (r *Run) Failures() []Failure { return r.failures.sorted() }

// bail records a failure, shows it and returns the error that stops the pipeline. A call that was given up because the run
// had stopped already is not a failure of its own.
func (r *Run) bail(l Located, code int, err error) error {
	if r.IsHalted() && isCancellation(err) {
		return &bailError{err}
	}
	r.diagnose(l.URN, Error, code, err.Error())
	return r.bailQuietly(l, err)
}

// bailQuietly is bail for what has been shown already.
func (r *Run) bailQuietly(l Located, err error) error {
	r.failures.add(Failure{Seq: l.Seq, URN: l.URN, Err: err})
	r.Halt()
	return &bailError{err}
}

// isCancellation recognises a call that was given up, also when the error has come over a wire.
func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || strings.Contains(err.Error(), context.Canceled.Error()) || errors.Is(err, ErrShutDown)
}

// ProgramFailed records that the program ended with an error and stops the run. shown is true if the program has said why.
func (r *Run) ProgramFailed(err error, shown bool) {
	if r.failures.any() {
		r.Halt() // most likely a consequence
		return
	}
	if !shown {
		r.diagnose("", Error, 0, err.Error())
	}
	r.failures.add(Failure{Err: err})
	r.Halt()
}

// Refuse is bail for the error of a stage that a caller put into the pipeline.
func (r *Run) Refuse(err error) error {
	if IsBail(err) || errors.Is(err, pipeline.ErrStopped) {
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
func (r *Run) Unrecorded(err error) error {
	if r.IsHalted() && (IsBail(err) || !errors.As(err, new(*pipeline.StageError))) {
		return nil
	}
	return err
}

// IsBail tells whether err only says that the run stopped because of a failure that is already recorded.
func IsBail(err error) bool { return errors.As(err, new(*bailError)) }
