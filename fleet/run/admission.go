package run

import (
	"regexp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// admitted limits how long a run waits for its [Go].
const admitted = 10 * time.Minute

// admit waits for the confirmation of a key holder that this run begins. The sealed request of a run could be sent again by others, to a run with
// another ID.
func admit(ctx workflow.Context, r Request, attempt string) error {
	info := workflow.GetInfo(ctx)
	refused := temporal.NewNonRetryableApplicationError("no holder of the fleet's key has confirmed this run: its request was sealed for another one", "unbidden", nil)
	switch {
	case !r.Bound:
		return nil
	case r.Carried != nil && r.Carried.Attempt != attempt:
		return refused
	case r.Carried != nil:
		return nil
	case r.Schedule != "" && bySchedule.MatchString(info.WorkflowExecution.ID) && !r.Operation.Changes():
		return nil // each activity checks the schedule against fleet.yaml
	case r.Schedule != "":
		return refused
	}
	waiting, stop := workflow.WithCancel(ctx)
	defer stop()
	bidden, late := false, false
	s := workflow.NewSelector(ctx)
	s.AddReceive(workflow.GetSignalChannel(ctx, GoSignal), func(c workflow.ReceiveChannel, _ bool) {
		var g Go
		bidden = c.ReceiveAsync(&g) && g.Attempt == info.WorkflowExecution.RunID
	})
	s.AddFuture(workflow.NewTimer(waiting, admitted), func(workflow.Future) { late = true })
	s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	for !bidden && !late && ctx.Err() == nil {
		s.Select(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !bidden {
		return refused
	}
	return nil
}

// bySchedule matches the IDs of workflows that a schedule has begun.
var bySchedule = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// firstOf returns the first workflow of a run, which may have continued as new ones, as the server names it.
func firstOf(ctx workflow.Context) string {
	info := workflow.GetInfo(ctx)
	if info.FirstRunID != "" {
		return info.FirstRunID
	}
	return info.WorkflowExecution.RunID
}
