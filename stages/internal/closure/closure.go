package closure

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
)

// DeletesFirst is the order of deletes (steps.md 5.3).
var DeletesFirst = graph.Schedule{Direction: graph.DependentsFirst, Scope: graph.Scope{ThroughOthers: true}}

// TaskOf makes the task of an entry of a schedule. Its tasks have consecutive IDs.
func TaskOf(entry graph.Scheduled, first, place graph.ID) stages.Task {
	t := stages.Task{ID: first + place}
	for _, a := range entry.After {
		t.After = append(t.After, first+a)
	}
	return t
}
