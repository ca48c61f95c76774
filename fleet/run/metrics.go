package run

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// The metrics of runs. Those of Temporal's client are beside them.
const (
	StacksMetric   = "sluice_fleet_stacks"         // counts stacks that have ended, by operation and status
	DurationMetric = "sluice_fleet_stack_duration" // of stacks that something was done for
	WaitMetric     = "sluice_fleet_wait"           // how long a stack has waited, by what for: approval, limit
	RetriesMetric  = "sluice_fleet_retries"        // counts attempts that have failed and are made again, by kind
)

// count counts an outcome.
func (f *fleet) count(ctx workflow.Context, o Outcome) {
	m := workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"fleet": f.Fleet, "operation": string(f.Operation), "status": string(o.Status)})
	m.Counter(StacksMetric).Inc(1)
	if !o.Began.IsZero() && o.Ended.After(o.Began) {
		m.Timer(DurationMetric).Record(o.Ended.Sub(o.Began))
	}
}

// waited records how long a stack has waited for something.
func waited(ctx workflow.Context, what string, since time.Time) {
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"for": what}).Timer(WaitMetric).Record(workflow.Now(ctx).Sub(since))
}
