package run

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// The metrics of runs. Temporal's client has metrics of its own.
const (
	StacksMetric   = "sluice_fleet_stacks"         // counts stacks that have ended, by operation and status
	DurationMetric = "sluice_fleet_stack_duration" // of stacks for which something was done
	WaitMetric     = "sluice_fleet_wait"           // how long a stack has waited, by reason: approval, limit
	RetriesMetric  = "sluice_fleet_retries"        // counts attempts that have failed and are repeated, by kind
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
