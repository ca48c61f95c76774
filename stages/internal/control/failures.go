package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-multierror"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// failures collects the failures of a run.
type failures struct {
	mu   sync.Mutex
	list []stages.Failure
	said map[string]bool
	// ofProgram are the first errors that the program has logged. shutDown is its error if that only repeats that the run was over.
	ofProgram []stages.LogMessage
	shutDown  error
}

// maxSaid is the number of logged errors that the failure of a program repeats, and maxSaidBytes the length of each.
const maxSaid, maxSaidBytes = 10, 2000

// programError is the error of a program, with the errors that it has logged.
type programError struct {
	error
	said []string
}

func (e *programError) Error() string { return e.error.Error() + ": " + strings.Join(e.said, "; ") }

func (e *programError) Unwrap() error { return e.error }

// Said keeps a logged error of the program, for the failure of the program.
func (c *Control) Said(m stages.LogMessage) {
	f := c.Failed
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.StreamID != 0 {
		if i := slices.IndexFunc(f.ofProgram, func(p stages.LogMessage) bool { return p.StreamID == m.StreamID && p.URN == m.URN }); i >= 0 {
			f.ofProgram[i].Message = beginning(f.ofProgram[i].Message + m.Message)
			return
		}
	}
	if len(f.ofProgram) < maxSaid {
		m.Message = beginning(m.Message)
		f.ofProgram = append(f.ofProgram, m)
	}
}

// beginning returns the part of a text that a failure repeats.
func beginning(text string) string {
	if len(text) <= maxSaidBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxSaidBytes], "") + "…"
}

// withSaid returns the error of a program with the errors that it has logged.
func (f *failures) withSaid(err error) error {
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

func (f *failures) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.list) > 0
}

// Failures returns the failures, ordered by URN.
func (c *Control) Failures() []stages.Failure { return c.Failed.sorted() }

// HasFailed reports whether anything went wrong.
func (c *Control) HasFailed() bool { return c.Failed.any() }

// Fail makes the run fail: it shows an error at a resource, and records it. seq is the number of the registration, 0 for none. It
// is the only way to make a run fail, and does not stop it. The code is [stages.CodeShown] if the error has been shown already.
func (c *Control) Fail(seq int, u urn.URN, code int, err error) {
	if code != stages.CodeShown {
		c.Diagnose(u, stages.Error, code, err.Error(), advice.Of(err)...)
	}
	c.Failed.add(stages.Failure{Seq: seq, URN: u, Err: err})
}

// Bail is Fail for an error that stops the run. It returns the error that stops the pipeline. A call that was abandoned because the
// run had stopped already is not a failure of its own.
func (c *Control) Bail(l stages.Located, code int, err error) error {
	if code != stages.CodeShown && c.IsHalted() && isCancellation(err) {
		return &stages.ReportedError{Err: err}
	}
	c.Fail(l.Seq, l.URN, code, err)
	c.Halt()
	return &stages.ReportedError{Err: err}
}

// BailUnlessDry is [Control.Bail], but lets a preview go on, so that it shows more problems at once.
func (c *Control) BailUnlessDry(l stages.Located, err error) error {
	if !c.DryRun() {
		return c.Bail(l, 0, err)
	}
	c.Fail(l.Seq, l.URN, 0, err)
	return nil
}

// isCancellation reports whether a call was abandoned.
func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, stages.ErrShutDown)
}

// ProgramFailed records that the program ended with an error and stops the run. shown is true if the program has logged the reason.
// An error that only reports the end of the run waits for [Control.JudgeProgram]: its cause may not be recorded yet.
func (c *Control) ProgramFailed(err error, shown bool) {
	defer c.Halt()
	switch {
	case c.HasFailed(), errors.As(err, new(*pipeline.StageError)): // most likely a consequence
	case errors.Is(err, stages.ErrShutDown):
		c.Failed.mu.Lock()
		defer c.Failed.mu.Unlock()
		c.Failed.shutDown = err
	case shown:
		c.Fail(0, "", stages.CodeShown, c.Failed.withSaid(err))
	default:
		c.Fail(0, "", 0, err)
	}
}

// JudgeProgram records that the program ended because the run was over, unless another failure explains it.
func (c *Control) JudgeProgram() {
	c.Failed.mu.Lock()
	err := c.Failed.shutDown
	c.Failed.shutDown = nil
	c.Failed.mu.Unlock()
	if err != nil && !c.HasFailed() {
		c.Fail(0, "", 0, err)
	}
}

// Refuse is Bail for the error of a stage that a caller put into the pipeline. In a preview, items that are only refused may go on, so that
// all refusals are shown: then it returns nil.
func (c *Control) Refuse(err error, mayGoOn bool) error {
	if stages.IsReported(err) || errors.Is(err, pipeline.ErrStopped) {
		return err
	}
	if refused, only := refusals(err); mayGoOn && only && c.DryRun() {
		for _, e := range refused {
			c.Fail(0, e.URN, 0, e)
		}
		return nil
	}
	var refused *stages.RefusedError
	l := stages.Located{}
	var broken *stages.SlotError
	switch {
	case errors.As(err, &refused):
		l.URN = refused.URN
	case errors.As(err, &broken):
		l.URN, l.Seq = broken.URN, broken.Seq
	}
	return c.Bail(l, 0, err)
}

// refusals returns the refusals in an error, and whether it has nothing else.
func refusals(err error) (all []*stages.RefusedError, only bool) {
	switch e := err.(type) {
	case *stages.RefusedError:
		return []*stages.RefusedError{e}, true
	case interface{ Unwrap() []error }:
		only = true
		for _, part := range e.Unwrap() {
			some, nothingElse := refusals(part)
			all, only = append(all, some...), only && nothingElse
		}
		return all, only && len(all) > 0
	}
	return nil, false
}

// Unrecorded returns the part of a pipeline's error that the run has not recorded. It leaves out that the run was stopped: the
// reason is recorded, or was an interrupt.
func (c *Control) Unrecorded(err error) error {
	if !c.IsHalted() {
		return err
	}
	explained := func(err error) bool { return stages.IsReported(err) || !errors.As(err, new(*pipeline.StageError)) }
	all, ok := err.(*multierror.Error) // not one that a stage wraps
	if !ok {
		if explained(err) {
			return nil
		}
		return err
	}
	left := &multierror.Error{ErrorFormat: all.ErrorFormat, Errors: slices.DeleteFunc(slices.Clone(all.Errors), explained)}
	return left.ErrorOrNil()
}

// Broken ends the run because the record cannot be kept, or because the effect of a step is unknown.
func (c *Control) Broken(d *stages.Decision, err error) error {
	c.Fail(d.Seq, d.URN, 0, err)
	c.Halt()
	return &stages.ReportedError{Err: err}
}
