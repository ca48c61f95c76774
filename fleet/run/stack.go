package run

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// heartbeat is the time without a heartbeat of an activity after which another worker continues it.
	heartbeat = 15 * time.Second
	// longest limits the duration of one operation.
	longest = 24 * time.Hour
)

// Stack is the workflow of one stack in a run. Its result is the outcome of the stack; an error is a fault.
func Stack(ctx workflow.Context, r StackRequest) (Outcome, error) {
	me := workflow.GetInfo(ctx)
	if r.Bound && (me.ParentWorkflowExecution == nil || me.ParentWorkflowExecution.RunID != r.Parent) {
		return Outcome{}, temporal.NewNonRetryableApplicationError("the request for the stack was sealed for another run", "unbidden", nil)
	}
	aborted := false
	if err := workflow.SetQueryHandler(ctx, AbortQuery, func() (bool, error) { return aborted, nil }); err != nil {
		return Outcome{}, err
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(free, func(ctx workflow.Context) {
		for ask := workflow.GetSignalChannel(ctx, AbortSignal); !aborted; {
			var a Abort
			if !r.Bound {
				ask.Receive(ctx, nil)
			} else {
				ask.Receive(ctx, &a)
			}
			aborted = !r.Bound || a.Attempt == me.WorkflowExecution.RunID
		}
	})
	if r.Bound {
		r.Attempt, r.Asked = me.WorkflowExecution.RunID, workflow.Now(ctx)
	}
	places := placesOf(ctx, r)
	if err := workflow.SetQueryHandler(ctx, WaitsQuery, func() (string, error) { return places.waits, nil }); err != nil {
		return Outcome{}, err
	}
	approval, refused := approve(ctx, r)
	if refused != nil {
		refused.Attempt = r.Attempt
		return *refused, nil
	}
	o := Outcome{Status: Canceled, Why: "the run was cancelled while it waited for a limit"}
	if places.take(ctx, r.Fleet) == nil {
		began := workflow.Now(ctx)
		if r.Bound {
			r.Asked = began
		}
		o = perform(ctx, r)
		o.Began = began
	}
	places.giveBack(free)
	o.Approval, o.Attempt = approval, r.Attempt
	return o, nil
}

// perform carries out the operation.
func perform(ctx workflow.Context, r StackRequest) Outcome {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ActivityQueue(r.Fleet, r.Stack.Queue), StartToCloseTimeout: longest, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
		// The worker decides which failures are retried, and when; this policy is for workers that die.
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
	})
	var o Outcome
	err := workflow.ExecuteActivity(ctx, PerformActivity, r).Get(ctx, &o)
	if err != nil {
		return failure(err, r.Attempt)
	}
	if o.Attempt != r.Attempt {
		return Outcome{Status: Failed, Kind: Lost, Why: ofAnother}
	}
	return o
}

// ofAnother is the reason why an outcome that was sealed for another run does not count.
const ofAnother = "the outcome belongs to another run"

// approve waits for the approval of the operation, if a run of an earlier version has not done so. It returns an outcome if the operation is not
// approved.
func approve(ctx workflow.Context, r StackRequest) (*Approval, *Outcome) {
	if !r.lacksApproval() || r.Look {
		return r.Approval, nil
	}
	if r.Bound {
		return nil, &Outcome{Status: Refused, Why: "nobody has approved it"}
	}
	var a Approval
	began := workflow.Now(ctx)
	said := workflow.NewSelector(ctx)
	said.AddReceive(workflow.GetSignalChannel(ctx, ApproveSignal), func(c workflow.ReceiveChannel, _ bool) {
		a = Approval{}
		// Answers that cannot be decoded, or have no name, are ignored.
		if c.ReceiveAsync(&a) && a.By != "" {
			a.At = workflow.Now(ctx)
		}
	})
	said.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	for a.At.IsZero() && ctx.Err() == nil {
		said.Select(ctx)
	}
	waited(ctx, "approval", began)
	switch {
	case a.At.IsZero():
		return nil, &Outcome{Status: Canceled, Why: canceledUnapproved}
	case !a.Granted:
		o := refused(a)
		return nil, &o
	}
	return &a, nil
}

// failure returns the outcome of an activity that has failed. It ignores details of another attempt.
func failure(err error, attempt string) Outcome {
	var timeout *temporal.TimeoutError
	var failed *temporal.ApplicationError
	switch {
	case temporal.IsCanceledError(err):
		o := Outcome{Status: Canceled, Why: "the run was cancelled"}
		var canceled *temporal.CanceledError
		var more Outcome
		if errors.As(err, &canceled) && canceled.HasDetails() && canceled.Details(&more) == nil && more.Attempt == attempt {
			return more
		}
		return o // even without details, it is known to be cancelled
	case errors.As(err, &failed):
		o := Outcome{}
		if failed.HasDetails() && failed.Details(&o) == nil && o.Status != "" && o.Attempt == attempt {
			return o
		}
		return Outcome{Status: Failed, Kind: Kind(failed.Type()), Why: failed.Message()}
	case errors.As(err, &timeout):
		return Outcome{Status: Failed, Kind: Lost, Why: fmt.Sprintf("it did not end within %v", longest)}
	}
	return Outcome{Status: Failed, Kind: Lost, Why: err.Error()}
}

// The metrics of runs. Temporal's client has metrics of its own.
const (
	StacksMetric   = "sluice_fleet_stacks"         // counts stacks that have ended, by operation and status
	DurationMetric = "sluice_fleet_stack_duration" // of stacks for which something was done
	WaitMetric     = "sluice_fleet_wait"           // how long a stack has waited, by reason: approval, limit
	RetriesMetric  = "sluice_fleet_retries"        // counts attempts that have failed and are repeated, by kind
)

// waited records how long a stack has waited for something.
func waited(ctx workflow.Context, what string, since time.Time) {
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"for": what}).Timer(WaitMetric).Record(workflow.Now(ctx).Sub(since))
}
