package run

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// outcomes are the outcomes of the stacks of a run that have ended.
type outcomes map[string]Outcome

func (o outcomes) has(name string) bool { _, over := o[name]; return over }

// haveFailed reports whether one of the stacks has failed.
func (o outcomes) haveFailed(stacks []spec.Stack) bool {
	return slices.ContainsFunc(stacks, func(s spec.Stack) bool { return o.has(s.Name) && !o[s.Name].OK() })
}

// obstacle returns one of the preceding stacks that has not succeeded, and whether one has not ended.
func (o outcomes) obstacle(before []string) (bad string, open bool) {
	for _, name := range before {
		switch one, over := o[name]; {
		case !over:
			open = true
		case !one.OK():
			return name, false
		}
	}
	return "", open
}

// skipped returns the outcome of a stack that comes after a failure. word describes its relation to the failed one.
func (o outcomes) skipped(because, word string) Outcome {
	chain := append(slices.Clone(o[because].Chain), because)
	var parts []string
	for i := len(chain) - 1; i >= 0; i-- {
		parts = append(parts, word+" "+chain[i])
	}
	end := o[chain[0]].Status
	return Outcome{Status: Skipped, Chain: chain, Why: fmt.Sprintf("%s, which %s", strings.Join(parts, ", which "), wordOf(end))}
}

func wordOf(s Status) string {
	switch s {
	case Canceled:
		return "was cancelled"
	case Refused:
		return "was not approved"
	case Skipped:
		return "was skipped"
	}
	return "failed"
}

// planned returns the predicted outputs of previewed stacks, by the references to them.
func (o outcomes) planned(reads map[string]string) map[string]Planned {
	out := map[string]Planned{}
	for reference, owner := range reads {
		if p := o[owner].Planned; !p.IsEmpty() {
			out[reference] = p
		}
	}
	return out
}

// count counts an outcome of a run.
func count(ctx workflow.Context, r Request, o Outcome) {
	m := workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"fleet": r.Fleet, "operation": string(r.Operation), "status": string(o.Status)})
	m.Counter(StacksMetric).Inc(1)
	if !o.Began.IsZero() && o.Ended.After(o.Began) {
		m.Timer(DurationMetric).Record(o.Ended.Sub(o.Began))
	}
}
