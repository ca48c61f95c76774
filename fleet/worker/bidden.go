package worker

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// stale is the maximal age of a request, by the clock of this worker. It is far longer than differences of clocks and waiting times; it limits how
// long the operator of the server can replay sealed data.
const stale = 7 * 24 * time.Hour

// unbidden returns the error of an activity that is refused for good.
func unbidden(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), "unbidden", nil)
}

// checkBidden refuses an operation that was sealed for another workflow than the present one, or long ago.
func checkBidden(fleet *spec.Fleet, attempt string, r run.StackRequest, now time.Time) error {
	switch age := now.Sub(r.Asked); {
	case !r.Bound || r.Attempt != attempt:
		return fmt.Errorf("the operation on %s was sealed for another run", r.Stack.Name)
	case age > stale || age < -stale:
		return fmt.Errorf("the operation on %s was sealed on %s, more than %d days from now: check the clocks of the machines, or give the command again",
			r.Stack.Name, r.Asked.UTC().Format(time.DateTime), stale/(24*time.Hour))
	}
	return checkSchedule(fleet, r.Schedule, r.Operation)
}

// checkSchedule refuses schedules that are not in this worker's fleet.yaml. name is "" for a run without a schedule.
func checkSchedule(fleet *spec.Fleet, name string, op run.Operation) error {
	if name == "" || slices.ContainsFunc(fleet.Schedules, func(s spec.Schedule) bool { return s.Name == name && run.Operation(s.Operation) == op }) {
		return nil
	}
	return fmt.Errorf("fleet.yaml has no schedule %q with the operation %s", name, op)
}
