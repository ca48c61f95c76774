package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// operationKind is what preview, up and destroy differ in.
type operationKind struct {
	history string // the kind in the history
	noun    string // in questions
	// previewing and doing are the titles.
	previewing, doing string
	needsProgram      bool
	preview, perform  func(context.Context, sluice.Options) (*sluice.Result, error)
	// asksProgram is true when the program does not run but is asked for the versions of its packages.
	asksProgram bool
	// prepare completes the operation before it begins, performed follows it whether it has succeeded or not; nil does
	// nothing.
	prepare, performed func(*operation) error
	// previewed follows a preview that has succeeded and is all there is to do; nil does nothing.
	previewed func(*operation, *sluice.Result) error
}

var (
	updateKind = operationKind{
		history: "update", noun: "update", previewing: "Previewing update", doing: "Updating", needsProgram: true,
		preview: sluice.Preview, perform: sluice.Update,
	}
	destroyKind = operationKind{
		history: "destroy", noun: "destroy", previewing: "Previewing destroy", doing: "Destroying",
		preview: sluice.PreviewDestroy, perform: sluice.Destroy,
	}
	refreshKind = operationKind{
		history: "refresh", noun: "refresh", previewing: "Previewing refresh", doing: "Refreshing",
		preview: sluice.PreviewRefresh, perform: sluice.Refresh,
	}
)

// operation is one preview, up or destroy while it goes on.
type operation struct {
	*session
	kind   operationKind
	flags  *flags.Operation
	lock   sluice.StackLock // nil when only a preview is made
	values map[workspace.Key]workspace.Value
	config sluice.Config
	// plan is what the phases are held to; nil allows everything.
	plan    *sluice.Plan
	secrets sluice.SecretsManager // nil when nothing needs one

	warned     map[string]bool
	noted      sync.Map // what noteOnce said
	interrupts sluice.Interrupts
	screenMu   sync.Mutex   // guards what follows
	screen     *phaseScreen // of the phase that goes on
	fence      *sluice.Fence
	// creates says what is to be done about interrupted creates, by URN.
	creates map[string]sluice.CreateResolution
	// asking is true while the operation is being confirmed: there is nothing then that an interrupt would have to wait for.
	asking atomic.Bool
	// otherCreates is what is to be done about those that creates does not name.
	otherCreates sluice.CreateResolution
	// warnedOfPending is true once the preview has listed interrupted operations: at a terminal once is enough.
	warnedOfPending bool
	// endProcesses ends the plugins and the program of the phase.
	endProcesses func()
}

// operate runs an operation from its flags to its exit status.
func (c *cli) operate(ctx context.Context, kind operationKind, f *flags.Operation) error {
	if err := c.checkOperationFlags(f); err != nil {
		return err
	}
	s, err := c.openStack(ctx, f.Stack.Name, f.Stack.ConfigFile)
	if err != nil {
		return err
	}
	return s.operate(ctx, kind, f)
}

// operate runs an operation whose flags have been checked on the stack of the session.
func (s *session) operate(ctx context.Context, kind operationKind, f *flags.Operation) error {
	o := &operation{session: s, kind: kind, flags: f}
	if err := o.prepare(ctx); err != nil {
		return err
	}
	if o.kind.prepare != nil {
		if err := o.kind.prepare(o); err != nil {
			return err
		}
	}
	if err := o.resolvePending(ctx); err != nil {
		return err
	}
	if f.Confirmation.PreviewOnly {
		_, err := o.runInterruptible(ctx, func() error { return o.previewOnly(ctx) })
		return err
	}
	_, err := o.runInterruptible(ctx, func() error { return o.previewAndPerformLocked(ctx) })
	return err
}

// previewAndPerformLocked holds the lock of the stack meanwhile. A signal that comes while it is taken or given back does not
// end the process: the lock would stay.
func (o *operation) previewAndPerformLocked(ctx context.Context) error {
	lock, err := o.stack.Lock(ctx, sluice.StackLockOptions{Operation: o.kind.history, OnLost: func(err error) {
		o.note(err.Error())
		o.interrupts.Stop()
	}})
	if err != nil {
		return err
	}
	o.setLock(lock)
	err = o.previewAndPerform(ctx)
	if unlockErr := lock.Close(); unlockErr != nil {
		o.cli.Warn("the lock of the stack could not be released: %v", unlockErr)
	}
	return err
}

// runInterruptible runs f under the rules for Ctrl-C.
func (o *operation) runInterruptible(ctx context.Context, f func() error) (bool, error) {
	var err error
	guard := &interruptible{
		interrupts: &o.interrupts,
		note:       o.note,
		running:    o.runningSteps,
		asking:     o.asking.Load,
		leave:      func() { o.leave(os.Exit) },
	}
	guard.run(ctx, func() { err = f() })
	return o.interrupts.Stopped(), err
}

func (o *operation) previewOnly(ctx context.Context) error {
	result, err := o.phase(ctx, true, 0)
	if err != nil {
		return err
	}
	if err := o.checkNoChanges(result); err != nil {
		return err
	}
	if o.kind.previewed != nil {
		if err := o.kind.previewed(o, result); err != nil {
			return err
		}
	}
	return o.savePlan(ctx, result)
}

// previewAndPerform is the flow of up and destroy (protocol.md 10.2). The lock is held.
func (o *operation) previewAndPerform(ctx context.Context) error {
	expected := 0
	if !o.flags.Confirmation.SkipPreview {
		result, err := o.phase(ctx, true, 0)
		if err != nil {
			return err
		}
		if o.interrupts.Stopped() {
			return cancelledError()
		}
		if o.flags.Plan.Strict && o.plan == nil {
			o.plan = result.Plan
		}
		expected = countVisible(result)
		if !o.flags.Confirmation.Yes {
			if err := o.confirm(result); err != nil {
				return err
			}
		}
	} else if !o.flags.Confirmation.Yes && o.cli.Interactive() {
		if err := o.confirm(nil); err != nil {
			return err
		}
	}
	started := time.Now()
	result, err := o.phase(ctx, false, expected)
	historyErr := o.writeHistory(ctx, started, result, err)
	if err == nil {
		err = o.checkNoChanges(result)
	}
	if o.kind.performed != nil {
		switch also := o.kind.performed(o); {
		case err == nil:
			err = also
		case also != nil:
			o.cli.Warn("%v", also)
		}
	}
	if historyErr != nil {
		o.cli.Warn("the history of the stack was not written: %v", historyErr)
	}
	return err
}

func countVisible(r *sluice.Result) int {
	n := 0
	if r != nil {
		for _, s := range r.Steps {
			if s.Op != sluice.OpSame && s.Op != sluice.OpReplace && !s.Internal {
				n++
			}
		}
	}
	return n
}

func (o *operation) checkNoChanges(r *sluice.Result) error {
	if o.flags.Confirmation.ExpectNoChanges && r != nil && r.HasChanges() {
		return &exit.Error{Status: exit.HasChanges, Err: errors.New("no changes were expected but changes occurred")}
	}
	return nil
}

func cancelledError() error {
	return exit.Cancelledf("the operation was cancelled")
}
