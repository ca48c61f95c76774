package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
)

// runPhase runs a preview or the operation itself, with its screen and event log. expected is how many resources are
// expected to change, 0 if that is unknown.
func runPhase(ctx context.Context, o *operation, preview bool, expected int) (*sluice.Result, error) {
	o.job.learnCredentials()
	readArchives(ctx, o.job)
	started := time.Now()
	run, err := begin(ctx, o, preview)
	if err != nil {
		return nil, err
	}
	if page := run.Page(); page != "" && !o.job.Flags.Display.JSON() {
		fmt.Fprintf(o.job.Terminal.Out, "View in the service: %s\n\n", page)
	}
	result, err := followPhase(ctx, o, run, preview, expected)
	switch endErr := end(ctx, o.job, run, preview, started, result, err); {
	case endErr == nil:
	case errors.Is(endErr, backend.ErrUnsaved):
		return result, errors.Join(err, endErr)
	default:
		o.job.Terminal.Warn("the history of the stack was not written: %v", endErr)
	}
	return result, err
}

// followPhase runs a phase that is recorded as run in the backend.
func followPhase(ctx context.Context, o *operation, run backend.Run, preview bool, expected int) (*sluice.Result, error) {
	screen, err := openScreen(ctx, o, run, preview, expected)
	if err != nil {
		return nil, err
	}
	o.foreground.setScreen(screen)
	defer o.foreground.setScreen(nil)
	observe := screen.observe
	if !preview {
		observe = func(e stages.Event) {
			o.reads.observe(e)
			screen.observe(e)
		}
	}
	result, runErr := runEngine(ctx, o, run, preview, observe)
	o.partial = ""
	if preview && runErr != nil && o.job.Kind.Partial != nil {
		o.partial, _ = o.job.Kind.Partial(result, runErr)
	}
	log := decisions.Of(o.job.Stack, result, func() []why.ChangedSetting { return changedSettings(ctx, o.job) })
	log = log.WithAnswers(o.answers.recorded.Reused()).WithDepartures(decisions.ReadDepartures(ctx, o.job.Stack))
	if !preview {
		decisions.KeepDepartures(ctx, o.job.Stack, log)
	}
	if !preview && runErr != nil {
		log = log.WithPlanned(o.planned)
	}
	o.job.remarks.noteBuiltins()
	closeErr := screen.close(ctx, result, log, runErr, o.partial)
	o.warnedOfPending = screen.warned
	note := decisions.Operation
	if preview {
		note, o.planned = decisions.Preview, log
	}
	decisions.Keep(ctx, o.job.Stack, note, log)
	if runErr != nil {
		return result, runErr
	}
	return result, closeErr
}

func runEngine(ctx context.Context, o *operation, phase backend.Run, preview bool, observe func(stages.Event)) (*sluice.Result, error) {
	options, closeAll, err := engineOptions(ctx, o, phase, preview)
	if err != nil {
		return nil, err
	}
	fence := sluice.NewFence(o.job.Stack.State)
	options.State = fence
	o.foreground.setFence(fence)
	defer o.foreground.setFence(nil)
	defer o.foreground.begun(closeAll)()
	options.Observe = observe
	run := o.job.Kind.Perform
	if preview {
		run = o.job.Kind.Preview
	}
	engine := sluice.Standard(options)
	if o.job.archives != nil {
		engine.Located.Insert(o.job.archives.Stage(options.Directory))
	}
	return run(engine, ctx)
}
