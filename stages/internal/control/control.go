package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Control controls a run: its contexts, its end, its failures, and its events and diagnostics. It is safe for concurrent use.
type Control struct {
	Info stages.RunInfo
	// Now is the clock for the times in states and events.
	Now func() time.Time

	observe func(stages.Event) // nil discards
	Failed  *failures
	halted  *await.Event // fired when no further step may start
	over    *await.Event // fired when the run is completely done
	mu      sync.Mutex   // guards running, yields, and the changes that go with it: halted, and the end of Answering
	running int          // steps under way
	// yields is true if the run ends because the operation begins again: what the program says about its end is not for users.
	yields bool
	// Admitted is the context of all work that leads to decisions; it ends when the run halts.
	Admitted context.Context
	stop     context.CancelCauseFunc
	// Answering is the context of requests of programs: it ends when they get no more answers, with ErrShutDown.
	Answering context.Context
	hangUp    context.CancelCauseFunc
	// Operations is the context of provider calls that change something. It outlives the pipeline's, so that running calls can
	// finish when the run stops.
	Operations context.Context
	// Admit waits while no task may begin, or until its context ends; nil does not wait.
	Admit func(context.Context) error
}

// NewControl returns the control of a run. The contexts of the run are derived from ctx. observe may be nil.
func NewControl(ctx context.Context, info stages.RunInfo, now func() time.Time, observe func(stages.Event)) *Control {
	c := &Control{
		Info: info, Now: now, observe: observe, Failed: &failures{},
		halted: await.NewEvent(), over: await.NewEvent(), Operations: ctx,
	}
	c.Admitted, c.stop = context.WithCancelCause(ctx)
	c.Answering, c.hangUp = context.WithCancelCause(ctx)
	return c
}

// Yield is Halt for a run after which the operation begins again. Messages are not shown any more, and a failure of the program is none.
func (c *Control) Yield() {
	c.mu.Lock()
	c.yields = true
	c.mu.Unlock()
	c.Halt()
}

// Yields reports whether [Control.Yield] has been called.
func (c *Control) Yields() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.yields
}

// Halt prevents further steps; running ones finish. When none is running, programs get no more answers.
func (c *Control) Halt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halted.Fire()
	c.stop(stages.ErrShutDown)
	if c.running == 0 {
		c.hangUp(stages.ErrShutDown)
	}
}

// AwaitAdmission waits while the operation is paused. If the run is halted meanwhile, [Control.Enter] refuses.
func (c *Control) AwaitAdmission() {
	if c.Admit != nil {
		_ = c.Admit(c.Admitted)
	}
}

// Enter counts a step that is about to run. It refuses if the run is halted.
func (c *Control) Enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.halted.Fired() {
		return false
	}
	c.running++
	return true
}

// Leave ends a step that [Control.Enter] has counted, and calls answer, which gives the program its reply; nil gives none. Both are
// one action, so that the step is over for anything that the program does after the reply.
func (c *Control) Leave(answer func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer != nil {
		answer()
	}
	if c.running--; c.running == 0 && c.halted.Fired() {
		c.hangUp(stages.ErrShutDown)
	}
}

// IsAnswering reports whether programs still get answers.
func (c *Control) IsAnswering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Answering.Err() == nil
}

// ShutDown ends all waiting calls. The run is over.
func (c *Control) ShutDown() {
	c.halted.Fire()
	c.stop(stages.ErrShutDown)
	c.over.Fire()
	c.hangUp(stages.ErrShutDown)
}

// AwaitEnd waits until the run is completely done, or ctx ends.
func (c *Control) AwaitEnd(ctx context.Context) error { return c.over.Wait(ctx) }

// IsHalted reports whether steps may no longer start.
func (c *Control) IsHalted() bool { return c.halted.Fired() }

// DryRun reports whether the run only predicts.
func (c *Control) DryRun() bool { return c.Info.DryRun }

// Emit delivers an event to the run's observer.
func (c *Control) Emit(ev stages.Event) {
	if c.observe == nil {
		return
	}
	switch ev.(type) {
	case stages.Diagnostic, stages.Stdout:
		if c.Yields() {
			return
		}
	}
	c.observe(ev)
}

// Diagnose shows a message about a resource, or about the run if u is "".
func (c *Control) Diagnose(u urn.URN, s stages.Severity, code int, message string, as ...advice.Advice) {
	c.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: s, Message: message, URN: u, Advice: as}, Code: code})
}

// Warn shows a warning, with the advice of an error among the arguments, which are those of [fmt.Errorf].
func (c *Control) Warn(u urn.URN, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	c.Diagnose(u, stages.Warning, 0, err.Error(), advice.Of(err)...)
}

// maxLogged is the number of logged errors that the failure of a program repeats, and maxLoggedBytes the length of each.
const maxLogged, maxLoggedBytes = 10, 2000

// RecordLogged keeps a logged error of the program, for the failure of the program.
func (c *Control) RecordLogged(m stages.LogMessage) {
	f := c.Failed
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.StreamID != 0 {
		if i := slices.IndexFunc(f.ofProgram, func(p stages.LogMessage) bool { return p.StreamID == m.StreamID && p.URN == m.URN }); i >= 0 {
			f.ofProgram[i].Message = beginning(f.ofProgram[i].Message + m.Message)
			return
		}
	}
	if len(f.ofProgram) < maxLogged {
		m.Message = beginning(m.Message)
		f.ofProgram = append(f.ofProgram, m)
	}
}

// beginning returns the part of a text that a failure repeats.
func beginning(text string) string {
	if len(text) <= maxLoggedBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxLoggedBytes], "") + "…"
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
	c.failRegistration(l, code, err)
	c.Halt()
	return &stages.ReportedError{Err: err}
}

// failRegistration is Fail for a registration.
func (c *Control) failRegistration(l stages.Located, code int, err error) {
	if code != stages.CodeShown {
		c.DiagnoseRegistration(l, code, err.Error(), advice.Of(err)...)
	}
	c.Fail(l.Seq, l.URN, stages.CodeShown, err)
}

// DiagnoseRegistration shows an error of a registration for which there may be no step.
func (c *Control) DiagnoseRegistration(l stages.Located, code int, message string, as ...advice.Advice) {
	d := stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: message, URN: l.URN, Advice: as}, Code: code}
	if l.Identity().Owes() && l.URN != "" {
		d.Parent = l.Subject().Parent
	}
	c.Emit(d)
}

// FailRegistration is Bail for an error about one registration. A preview changes nothing, and so goes on with the other registrations: which
// errors it shows does not depend on which comes first. Its stage passes the registration on with [stages.Refused].
func (c *Control) FailRegistration(l stages.Located, code int, err error) error {
	if !c.DryRun() || c.IsHalted() {
		return c.Bail(l, code, err)
	}
	c.failRegistration(l, code, err)
	return &stages.ReportedError{Err: err, GoesOn: true}
}

// PassOn returns nil for an error of [Control.FailRegistration] with which the run goes on, and sets the course of the registration. It returns any
// other error.
func (c *Control) PassOn(l *stages.Located, err error) error {
	if !stages.GoesOn(err) {
		return err
	}
	l.Course, l.Reply = stages.Refused, &stages.RegisterReply{URN: l.URN, Result: stages.Fail}
	return nil
}

// BailUnlessDry is [Control.Bail], but lets a preview go on, so that it shows more problems at once.
func (c *Control) BailUnlessDry(l stages.Located, err error) error {
	if !c.DryRun() {
		return c.Bail(l, 0, err)
	}
	c.failRegistration(l, 0, err)
	return nil
}

// isCancellation reports whether a call was abandoned.
func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, stages.ErrShutDown)
}

// ProgramFailed records that the program ended with an error, and stops an update. shown is true if the program has logged the reason.
// An error that only reports the end of the run waits for [Control.JudgeProgram]: its cause may not be recorded yet.
func (c *Control) ProgramFailed(err error, shown bool) {
	if c.Yields() {
		return
	}
	if c.DryRun() {
		c.Failed.failProgram()
	} else {
		defer c.Halt()
	}
	switch {
	case c.HasFailed() && (!c.DryRun() || c.IsHalted() || shown && !c.Failed.hasLogged()), errors.As(err, new(*pipeline.StageError)): // most likely a consequence
	case c.Failed.has(err): // the program returns what it was told
	case errors.Is(err, stages.ErrShutDown):
		c.Failed.mu.Lock()
		defer c.Failed.mu.Unlock()
		c.Failed.shutDown = err
	case shown:
		c.Fail(0, "", stages.CodeShown, c.Failed.withLogged(err))
	default:
		c.Fail(0, "", 0, err)
	}
}

// HasProgramFailed reports whether the program of a preview has ended with an error.
func (c *Control) HasProgramFailed() bool {
	return c.Failed.hasProgram()
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
	if stages.IsReported(err) {
		return err
	}
	if refused, only := refusals(err); mayGoOn && only && c.DryRun() {
		for _, f := range refused {
			c.Fail(f.Seq, f.URN, 0, f.Err)
		}
		return nil
	}
	var refused *stages.RefusedError
	l := stages.Located{}
	var broken *stages.SlotError
	var failed *stages.StageFailedError
	switch {
	case errors.As(err, &refused):
		l.URN = refused.URN
	case errors.As(err, &broken):
		l.URN, l.Seq = broken.URN, broken.Seq
	case errors.As(err, &failed):
		l.URN, l.Seq = failed.URN, failed.Seq
	}
	return c.Bail(l, 0, err)
}

// refusals returns the refusals and failures of a stage in an error, and whether it has nothing else.
func refusals(err error) (all []stages.Failure, only bool) {
	switch e := err.(type) {
	case *stages.RefusedError:
		return []stages.Failure{{URN: e.URN, Err: e}}, true
	case *stages.StageFailedError:
		return []stages.Failure{{Seq: e.Seq, URN: e.URN, Err: e}}, true
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
	all, ok := err.(*pipeline.RunError) // not one that a stage wraps
	if !ok {
		if explained(err) {
			return nil
		}
		return err
	}
	left := slices.DeleteFunc(slices.Clone(all.Errors), explained)
	if len(left) == 0 {
		return nil
	}
	return &pipeline.RunError{Errors: left}
}

// Broken ends the run because the record cannot be kept, or because the effect of a step is unknown.
func (c *Control) Broken(d *stages.Decision, err error) error {
	c.Fail(d.Seq, d.URN, 0, err)
	c.Halt()
	return &stages.ReportedError{Err: err}
}
