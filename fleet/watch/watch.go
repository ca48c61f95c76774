package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Client begins and follows runs.
type Client struct {
	client.Client
	Namespace string
	Data      converter.DataConverter
	Failures  converter.FailureConverter
}

// RunID returns the ID for a request: there is at most one open run of the same stacks with the same operation and options.
func RunID(r run.Request) (string, error) {
	r.By, r.Carried, r.Options.Message, r.Bound, r.Schedule = "", nil, "", false, ""
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%s/%s/%s", r.Fleet, r.Operation, hex.EncodeToString(sum[:5])), nil
}

// Begin begins a run, or joins the open one. The run waits for a confirmation that it is the intended one: a replay of sealed data cannot give that.
func (c *Client) Begin(ctx context.Context, r run.Request) (id string, joined bool, err error) {
	if id, err = RunID(r); err != nil {
		return "", false, err
	}
	r.Bound = true
	o := client.StartWorkflowOptions{
		ID: id, TaskQueue: run.WorkflowQueue(r.Fleet), WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}
	if c.HasAttributes(ctx) {
		o.TypedSearchAttributes = r.SearchAttributes()
	}
	attempt := ""
	err = server.Persist(ctx, server.Patience, func(ctx context.Context) error {
		is, err := c.ExecuteWorkflow(ctx, o, run.FleetWorkflow, r)
		var already *serviceerror.WorkflowExecutionAlreadyStarted
		switch {
		case errors.As(err, &already):
			attempt, joined = already.RunId, true
			return nil
		case err != nil:
			return err
		}
		attempt = is.GetRunID()
		return nil
	})
	if err != nil {
		return id, joined, err
	}
	err = server.Persist(ctx, server.Patience, func(ctx context.Context) error {
		return c.SignalWorkflow(ctx, id, attempt, run.GoSignal, run.Go{Attempt: attempt})
	})
	var over *serviceerror.NotFound
	if joined && errors.As(err, &over) {
		err = nil // it has ended in the meantime
	}
	return id, joined, err
}

// HasAttributes reports whether the server supports the search attributes of fleets. Another server may lack them; runs are then found by their IDs.
// As not every role may list the attributes of a namespace, it looks for a run that has them.
func (c *Client) HasAttributes(ctx context.Context) bool {
	_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: c.Namespace, Query: strings.Join(server.SearchAttributes, " = '' AND ") + " = ''",
	})
	return err == nil
}

// State is the present state of a run.
type State struct {
	run.View
	Over     bool                    `json:"over"`
	Progress map[string]run.Progress `json:"progress,omitempty"` // of running stacks
}

// answered is how long a query is repeated if no worker answers. A server that has just started has no worker yet.
const answered = time.Minute

// See is [Client.Look] for a single look: it tries again after a temporary error.
func (c *Client) See(ctx context.Context, id string) (s State, err error) {
	err = server.Persist(ctx, answered, func(ctx context.Context) error {
		s, err = c.Look(ctx, id)
		return err
	})
	return s, err
}

// Look returns the present state of a run.
func (c *Client) Look(ctx context.Context, id string) (State, error) {
	is, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return State{}, c.notThere(id, err)
	}
	if is.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		v, err := c.result(ctx, id)
		return State{View: v, Over: true}, err
	}
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := c.QueryWorkflow(asking, id, "", run.ViewQuery)
	if err != nil {
		return State{}, fmt.Errorf("no worker answers for the run %s: %w", id, err)
	}
	s := State{Progress: map[string]run.Progress{}}
	if err := answer.Get(&s.View); err != nil {
		return State{}, err
	}
	// Older servers do not return the first run ID.
	if first := is.GetWorkflowExecutionInfo().GetFirstRunId(); first != "" && s.Attempt != first {
		return State{}, fmt.Errorf("the run %s is %s, and the answer is of %s: it is of another run, or of an earlier version", id, first, s.Attempt)
	}
	for _, stack := range s.Stacks {
		if stack.Status == run.Running {
			s.Progress[stack.Name] = c.progress(ctx, run.StackID(id, stack.Name))
		}
	}
	return s, nil
}

func (c *Client) notThere(id string, err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return fmt.Errorf("there is no run %s; `sluice fleet history` lists them", id)
	}
	return err
}

// progress returns the progress of an operation from the heartbeats of its activity.
func (c *Client) progress(ctx context.Context, id string) run.Progress {
	var p run.Progress
	is, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return p
	}
	if len(is.GetPendingActivities()) == 0 {
		var limit string
		answer, err := c.QueryWorkflow(ctx, id, "", run.WaitsQuery)
		if err == nil && answer.Get(&limit) == nil && limit != "" {
			p.Waits = "for the limit " + limit
		}
		return p
	}
	a := is.GetPendingActivities()[0]
	where := converter.ActivitySerializationContext{
		Namespace: c.Namespace, WorkflowID: id, ActivityType: a.GetActivityType().GetName(),
	}
	if details := a.GetHeartbeatDetails(); details != nil {
		_ = converter.WithDataConverterSerializationContext(c.Data, where).FromPayloads(details, &p) // without it, it is only known to run
	}
	if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
		p = run.Progress{Waits: "for a worker"}
		if f := a.GetLastFailure(); f != nil {
			p.Waits = fmt.Sprintf("to try again (attempt %d): %s", a.GetAttempt(), firstLine(messageOf(converter.WithFailureConverterSerializationContext(c.Failures, where).FailureToError(f))))
		}
	}
	return p
}

func messageOf(err error) string {
	var failed *temporal.ApplicationError
	var silent *temporal.TimeoutError
	switch {
	case errors.As(err, &failed):
		return failed.Message()
	case errors.As(err, &silent) && silent.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return "nothing has been heard of its worker"
	}
	return err.Error()
}

func firstLine(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }

// result returns the final view of a run.
func (c *Client) result(ctx context.Context, id string) (run.View, error) {
	var v run.View
	err := c.GetWorkflow(ctx, id, "").Get(ctx, &v)
	var failed *temporal.ApplicationError
	switch cycle := run.CycleOf(err); {
	case cycle != nil:
		return v, cycle
	case errors.As(err, &failed):
		return v, errors.New(failed.Message())
	case temporal.IsCanceledError(err):
		return v, fmt.Errorf("the run %s was cancelled before it began", id)
	}
	return v, err
}

// noticed is the time without an answer of the server after which that is reported.
const noticed = 10 * time.Second

// Follow calls show with the state of the run until it is over. It waits for a server that does not answer; note reports that.
func (c *Client) Follow(ctx context.Context, id string, every time.Duration, show func(State), note func(string)) (State, error) {
	var silent time.Time
	said := false
	for {
		s, err := c.Look(ctx, id)
		switch {
		case err == nil:
			silent, said = time.Time{}, false
			show(s)
			if s.Over {
				return s, nil
			}
		case ctx.Err() != nil:
			return s, context.Cause(ctx)
		case !server.IsPassing(err):
			return s, err
		case silent.IsZero():
			silent = time.Now()
		case time.Since(silent) > server.Patience:
			return s, err
		case time.Since(silent) > noticed && !said:
			said = true
			note(fmt.Sprintf("nothing is heard of the run, so this command waits: %v", err))
		}
		if err := await.For(ctx, every); err != nil {
			return s, err
		}
	}
}

// Decide returns the decision about a stack's question in the state of a run. It applies only to that question.
func Decide(s State, stack run.StackView, a run.Approval) run.Decision {
	a.Plan = stack.Plan
	return run.Decision{Stack: stack.Name, Approval: a, Attempt: s.Attempt, Asked: stack.Began}
}

// Approve sends a decision about an operation that waits for an approval.
func (c *Client) Approve(ctx context.Context, id string, d run.Decision) error {
	return server.Persist(ctx, server.Patience, func(ctx context.Context) error { return c.SignalWorkflow(ctx, id, "", run.ApproveSignal, d) })
}

// Cancel sends the first interrupt of a run. again reports whether there was one before.
func (c *Client) Cancel(ctx context.Context, id string) (again bool, err error) {
	err = server.Persist(ctx, server.Patience, func(ctx context.Context) error {
		is, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return c.notThere(id, err)
		}
		again = again || is.GetWorkflowExtendedInfo().GetCancelRequested()
		return c.CancelWorkflow(ctx, id, "")
	})
	return again, err
}

// Abort sends the second interrupt of the running stacks of a run.
func (c *Client) Abort(ctx context.Context, id string) error {
	s, all := c.See(ctx, id)
	if s.Over {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Progress)) {
		err := c.abort(ctx, run.StackID(id, name))
		var over *serviceerror.NotFound
		if err != nil && !errors.As(err, &over) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// abort sends the second interrupt to the workflow of a stack, and to no later one with that ID.
func (c *Client) abort(ctx context.Context, id string) error {
	return server.Persist(ctx, server.Patience, func(ctx context.Context) error {
		is, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return err
		}
		attempt := is.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		return c.SignalWorkflow(ctx, id, attempt, run.AbortSignal, run.Abort{Attempt: attempt})
	})
}

// Run is one run in a history.
type Run struct {
	ID      string    `json:"id"`
	Attempt string    `json:"attempt"` // distinguishes runs with the same ID
	Status  string    `json:"status"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	// Stacks counts the stacks of a completed run, by status.
	Stacks map[run.Status]int `json:"stacks,omitempty"`
}

// CountStacks sets the counts of runs.
func (c *Client) CountStacks(ctx context.Context, runs []Run) error {
	for i, r := range runs {
		if r.Status != "completed" {
			continue
		}
		var v run.View
		if err := c.GetWorkflow(ctx, r.ID, r.Attempt).Get(ctx, &v); err != nil {
			return fmt.Errorf("the end of the run %s: %w", r.ID, err)
		}
		runs[i].Stacks = v.Counts()
	}
	return nil
}

// History returns the runs of a fleet, the newest first, at most so many.
func (c *Client) History(ctx context.Context, fleet string, most int) ([]Run, error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND WorkflowId STARTS_WITH '%s/'", run.FleetWorkflow, fleet)
	var out []Run
	var token []byte
	for {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: c.Namespace, Query: query, PageSize: 100, NextPageToken: token})
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetExecutions() {
			r := Run{
				ID: e.GetExecution().GetWorkflowId(), Attempt: e.GetExecution().GetRunId(),
				Status: strings.ToLower(e.GetStatus().String()), Began: e.GetStartTime().AsTime(),
			}
			if e.GetCloseTime() != nil {
				r.Ended = e.GetCloseTime().AsTime()
			}
			out = append(out, r)
		}
		token = page.GetNextPageToken()
		if len(token) == 0 || len(out) >= most {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b Run) int { return b.Began.Compare(a.Began) })
	return out[:min(most, len(out))], nil
}
