package worker

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/run"
)

// Limits has the activities of limits. It is safe for concurrent use.
type Limits struct{ Client client.Client }

// Ask is the activity that requests a place from a limit. It begins the limit's workflow unless that runs.
func (l Limits) Ask(ctx context.Context, fleet string, c run.Claim) error {
	_, err := l.Client.SignalWithStartWorkflow(ctx, c.Limit, run.AskSignal, c, client.StartWorkflowOptions{
		ID: c.Limit, TaskQueue: run.WorkflowQueue(fleet), WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, run.LimitWorkflow, run.Claims{})
	return err
}

// Ended is the activity that returns the claims of workflows that have ended.
func (l Limits) Ended(ctx context.Context, claims []run.Claim) ([]run.Claim, error) {
	var out []run.Claim
	for _, c := range claims {
		is, err := l.Client.DescribeWorkflowExecution(ctx, c.Workflow, c.Run)
		var missing *serviceerror.NotFound
		switch {
		case errors.As(err, &missing):
			out = append(out, c)
		case err != nil:
			return nil, err
		case is.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			out = append(out, c)
		}
	}
	return out, nil
}
