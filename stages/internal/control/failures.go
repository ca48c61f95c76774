package control

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/stages"
)

// failures collects the failures of a run.
type failures struct {
	mu   sync.Mutex
	list []stages.Failure
	said map[string]bool
	// ofProgram are the first errors that the program has logged. shutDown is its error if that only repeats that the run was over.
	ofProgram []stages.LogMessage
	shutDown  error
	program   bool // the program of a preview has failed
}

// programError is the error of a program, with the errors that it has logged.
type programError struct {
	error
	said []string
}

func (e *programError) Error() string { return e.error.Error() + ": " + strings.Join(e.said, "; ") }

func (e *programError) Unwrap() error { return e.error }

// withLogged returns the error of a program with the errors that it has logged.
func (f *failures) withLogged(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &programError{error: err}
	for _, m := range f.ofProgram {
		if text := strings.TrimSpace(m.Message); text != "" {
			e.said = append(e.said, text)
		}
	}
	if e.said == nil {
		return err
	}
	return e
}

// failProgram records that the program of a preview has failed.
func (f *failures) failProgram() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.program = true
}

// hasProgram reports whether the program of a preview has failed.
func (f *failures) hasProgram() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.program
}

// hasLogged reports whether the program has logged an error.
func (f *failures) hasLogged() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ofProgram) > 0
}

// Once reports whether this is its first call with a text.
func (f *failures) Once(what string) bool {
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

func (f *failures) add(x stages.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, x)
}

// sorted returns the failures in an order that does not depend on when they happened: by URN, and then those of the operation as a
// whole in the order of their records.
func (f *failures) sorted() []stages.Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b stages.Failure) int {
		switch a, b := isOfOperation(a), isOfOperation(b); {
		case a && b:
			return 0
		case a:
			return 1
		case b:
			return -1
		}
		// Copies of one resource are read and deleted at once: their texts distinguish them.
		return cmp.Or(cmp.Compare(a.URN, b.URN), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	return list
}

// isOfOperation reports whether a failure belongs to the operation as a whole.
func isOfOperation(f stages.Failure) bool { return f.Seq == stages.EndPhaseSeq && f.URN == "" }

// has reports whether err is one of the failures, or wraps one.
func (f *failures) has(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(x stages.Failure) bool { return errors.Is(err, x.Err) })
}

func (f *failures) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.list) > 0
}
