package operate

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/estimate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// Run runs a job under the rules for Ctrl-C: its preview, or the whole operation. Its error contains no secret.
func Run(ctx context.Context, j *Job) error {
	restore, err := j.environments.Apply()
	if err != nil {
		return err
	}
	o := &operation{job: j, given: j.Flags.Targeting}
	o.foreground.terminal = j.Terminal
	defer o.foreground.begun(restore)()
	if !o.screens() {
		o.service = ciservice.From(j.Terminal.Lookup, exec.LookPath)
	}
	o.guard = interrupts.NewGuard(&o.interrupts)
	o.guard.Note, o.guard.Running = o.foreground.signalled, o.foreground.running
	o.guard.Asking, o.guard.Leave = o.foreground.asking.Load, o.foreground.leave
	j.Terminal.HandleSignals(true)
	defer j.Terminal.HandleSignals(false)
	o.guard.Run(ctx, func() {
		closeAll, openErr := openHost(ctx, o)
		if err = openErr; err != nil {
			return
		}
		defer closeAll()
		if o.answers, err = openAnswers(ctx, o, !j.Flags.Confirmation.PreviewOnly); err != nil {
			return
		}
		o.reading = newReading(ctx, o)
		if j.Flags.Confirmation.PreviewOnly {
			err = previewOnly(ctx, o)
		} else {
			err = previewAndPerformLocked(ctx, o)
		}
	})
	if err == nil {
		warnOfDebuggers(j)
	}
	return j.masks().Error(err)
}

// warnOfDebuggers warns about plugins that were to wait for a debugger and have not run.
func warnOfDebuggers(j *Job) {
	for _, name := range j.Flags.Program.Debug.Missed() {
		j.remarks.warn("--attach-debugger=plugin:%s: no plugin of this name was started", name)
	}
}

func previewOnly(ctx context.Context, o *operation) error {
	result, err := preview(ctx, o)
	if err != nil {
		return err
	}
	o.answers.end(ctx, o.job)
	if err := checkNoChanges(o.job, result); err != nil {
		return err
	}
	if o.job.AfterPreview != nil {
		return o.job.AfterPreview(ctx, result)
	}
	return nil
}

// previewAndPerformLocked holds the lock of the stack. While it takes or releases the lock, a signal does not end the process, because the lock would
// stay.
func previewAndPerformLocked(ctx context.Context, o *operation) error {
	lock, err := o.job.Stack.State.Lock(ctx, backend.LockOptions{Operation: o.job.Kind.History, OnLost: o.lost})
	if err != nil {
		return err
	}
	o.foreground.setLock(lock)
	err = previewAndPerform(ctx, o)
	if unlockErr := lock.Close(); unlockErr != nil {
		o.job.Terminal.Warn("the lock of the stack could not be released: %v", unlockErr)
	}
	return err
}

// previewAndPerform runs the phases of up and destroy (protocol.md 10.2). The caller holds the lock.
func previewAndPerform(ctx context.Context, o *operation) error {
	previewed, err := previewAndConfirm(ctx, o)
	if err != nil {
		return err
	}
	if err := unlockForSecrets(ctx, o, previewed); err != nil {
		return err
	}
	o.previewed = nil // nobody browses it any more
	o.work = estimate.New(estimate.Read(ctx, o.job.Stack), previewed.Steps(), o.job.Flags.Run.Workers())
	if err := o.answers.begin(ctx); err != nil {
		return err
	}
	result, err := runPhase(ctx, o, false, countChanging(previewed, o.job.Kind.History == Refresh().History))
	o.answers.end(ctx, o.job)
	decisions.KeepUnrealized(ctx, o.job.Stack, previewed, result)
	estimate.Keep(ctx, o.job.Stack, o.work)
	if err == nil {
		o.reads.keep(ctx, o)
		err = checkNoChanges(o.job, result)
	}
	if o.job.AfterOperation != nil {
		switch also := o.job.AfterOperation(ctx); {
		case err == nil:
			err = also
		case also != nil:
			o.job.Terminal.Warn("%v", also)
		}
	}
	return err
}

// previewAndConfirm runs the preview and requests a confirmation. It returns the result of the preview, nil if there is to be none.
func previewAndConfirm(ctx context.Context, o *operation) (*sluice.Result, error) {
	f := o.job.Flags
	if f.Confirmation.SkipPreview {
		if !f.Confirmation.Yes && o.job.Terminal.Interactive() {
			if _, err := confirm(ctx, o, nil); err != nil {
				return nil, err
			}
		}
		if o.reading != nil {
			return nil, o.reading.explore(ctx, o, true)
		}
		return nil, nil
	}
	result, err := preview(ctx, o)
	if err != nil && o.partial == "" {
		return nil, err
	}
	if o.interrupts.Stopped() {
		return nil, errCancelled()
	}
	if !f.Confirmation.Yes {
		if result, err = confirmPreviewed(ctx, o, result); err != nil {
			o.answers.end(ctx, o.job)
			return nil, err
		}
	}
	if o.answers.preview != nil && !result.HasChanges() {
		o.answers.preview.Complete()
	}
	if f.Plan.Strict && o.job.plan == nil {
		o.job.plan = result.Plan
	}
	o.forecast = display.NewForecast(result.Steps())
	return result, nil
}

// countChanging returns how many resources are expected to change after a preview, 0 if that is unknown. In a refresh, refreshed resources count.
func countChanging(r *sluice.Result, refresh bool) int {
	changing, renamed := map[urn.URN]bool{}, map[urn.URN]urn.URN{}
	for _, s := range r.Steps() {
		if former := s.FormerURN(); former != "" {
			renamed[former] = s.URN
		}
	}
	for _, s := range r.Steps() {
		switch {
		case s.Internal, s.Op == stages.OpSame, s.Op == stages.OpReplace, s.Op == stages.OpRemovePendingReplace, s.Op == stages.OpRefresh && !refresh:
		default:
			u := s.Resource()
			if now := renamed[u]; now != "" && s.New == nil { // its old object is deleted before it is registered
				u = now
			}
			changing[u] = true
		}
	}
	return len(changing)
}

// checkNoChanges returns an error if there were to be no changes, and there were, in Pulumi's words.
func checkNoChanges(j *Job, r *sluice.Result) error {
	if j.Flags.Confirmation.ExpectNoChanges && r != nil && r.HasChanges() {
		what := "changes occurred"
		if j.Flags.Confirmation.PreviewOnly {
			what = "changes were proposed"
		}
		return &exit.Error{Status: exit.HasChanges, Err: fmt.Errorf("no changes were expected but %s", what)}
	}
	return nil
}
