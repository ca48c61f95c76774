package worker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
	"go.temporal.io/sdk/activity"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// surveyor reads the recorded properties of stacks.
type surveyor struct {
	fleet   *spec.Fleet
	sluice  *sluice
	folders *folders
	records *recorder
}

// survey implements [Worker.Survey]. It reads the recorded properties of stacks. Heartbeats have the results so far, so that another worker can continue it.
func (v *surveyor) survey(ctx context.Context, r run.Survey) (map[string]run.Surveyed, error) {
	attempt := activity.GetInfo(ctx).WorkflowExecution.RunID
	if r.Attempt != attempt {
		return nil, unbidden(errors.New("the survey was sealed for another run"))
	}
	if err := checkSchedule(v.fleet, r.Schedule, r.Does); err != nil {
		return nil, unbidden(err)
	}
	found := map[string]run.Surveyed{}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &found); err != nil {
			found = map[string]run.Surveyed{} // of another version: start again
		}
	}
	maps.DeleteFunc(found, func(_ string, is run.Surveyed) bool { return is.Attempt != attempt })
	rest := slices.DeleteFunc(slices.Clone(r.Stacks), func(s spec.Stack) bool { _, done := found[s.Name]; return done })
	var mu sync.Mutex // guards found
	beating, stop := context.WithCancel(ctx)
	var beats conc.WaitGroup
	beats.Go(func() {
		for next := error(nil); next == nil; next = await.For(beating, time.Second) {
			mu.Lock()
			activity.RecordHeartbeat(ctx, found)
			mu.Unlock()
		}
	})
	err := v.lookAll(ctx, rest, func(name string, is run.Surveyed) {
		mu.Lock()
		defer mu.Unlock()
		is.Attempt = attempt
		found[name] = is
	})
	stop()
	beats.Wait()
	return found, err
}

// lookAll reads the recorded properties of stacks, and calls take with each, one after another.
func (v *surveyor) lookAll(ctx context.Context, stacks []spec.Stack, take func(name string, is run.Surveyed)) error {
	const atOnce = 4
	var mu sync.Mutex // held during take
	p := pool.New().WithMaxGoroutines(atOnce)
	for _, s := range stacks {
		p.Go(func() {
			found := v.look(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil { // otherwise it was cut off
				take(s.Name, found)
			}
		})
	}
	p.Wait()
	return context.Cause(ctx)
}

func (v *surveyor) look(ctx context.Context, s spec.Stack) run.Surveyed {
	problem := func(err error) run.Surveyed { return run.Surveyed{Problem: shortened(err.Error(), mostText)} }
	here, err := v.folders.locate(ctx, s)
	if err != nil {
		return problem(err)
	}
	project, err := projectOf(here.directory)
	if err != nil {
		return problem(err)
	}
	is, err := v.sluice.recorded(ctx, here, s.Stack)
	if err != nil {
		return problem(err)
	}
	found := run.Surveyed{Known: order.Known{Project: project, Reads: is.reads}, Outputs: is.outputs}
	found.Inputs, found.Same = v.records.same(ctx, here, is)
	return found
}
