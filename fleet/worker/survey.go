package worker

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc/pool"
	"go.temporal.io/sdk/activity"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// Survey is the activity that finds out what is recorded of stacks.
func (w *Worker) Survey(ctx context.Context, r run.Survey) (map[string]run.Surveyed, error) {
	return w.Look(ctx, r.Stacks, func() { activity.RecordHeartbeat(ctx) })
}

// Look finds out what is recorded of stacks. It calls tick after each.
func (w *Worker) Look(ctx context.Context, stacks []spec.Stack, tick func()) (map[string]run.Surveyed, error) {
	const atOnce = 4
	out := map[string]run.Surveyed{}
	var mu sync.Mutex // guards out
	p := pool.New().WithMaxGoroutines(atOnce)
	for _, s := range stacks {
		p.Go(func() {
			found := w.look(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			out[s.Name] = found
			tick()
		})
	}
	p.Wait()
	return out, context.Cause(ctx)
}

func (w *Worker) look(ctx context.Context, s spec.Stack) run.Surveyed {
	problem := func(err error) run.Surveyed { return run.Surveyed{Problem: err.Error()} }
	here, err := w.locate(ctx, s)
	if err != nil {
		return problem(err)
	}
	project, err := projectOf(here.directory)
	if err != nil {
		return problem(err)
	}
	is, err := w.recorded(ctx, here, s.Stack)
	if err != nil {
		return problem(err)
	}
	found := run.Surveyed{Known: order.Known{Project: project, Reads: is.reads}, Outputs: is.outputs}
	found.Inputs, found.Same = w.same(ctx, here, is)
	return found
}
