package main

import (
	"context"

	"github.com/sluice-iac/sluice"
)

// phase runs a preview or the operation itself, with its screen and event log.
func (o *operation) phase(ctx context.Context, preview bool, expected int) (*sluice.Result, error) {
	screen, err := o.openScreen(preview, expected)
	if err != nil {
		return nil, err
	}
	o.setScreen(screen)
	defer o.setScreen(nil)
	result, runErr := o.runEngine(ctx, preview, screen)
	closeErr := screen.close(result, runErr)
	o.warnedOfPending = screen.warned
	o.keepDecisions(ctx, result, preview)
	if runErr != nil {
		return result, runErr
	}
	return result, closeErr
}

func (o *operation) runEngine(ctx context.Context, preview bool, screen *phaseScreen) (*sluice.Result, error) {
	options, closeAll, err := o.engineOptions(ctx, preview)
	if err != nil {
		return nil, err
	}
	fence := sluice.NewFence(o.stack)
	if o.lock != nil {
		fence.Guard(o.lock.Check)
	}
	options.State = fence
	o.setProcesses(fence, closeAll)
	defer func() {
		o.setProcesses(nil, nil)
		closeAll()
	}()
	options.Observe = screen.observe
	run := o.kind.perform
	if preview {
		run = o.kind.preview
	}
	return run(ctx, options)
}
