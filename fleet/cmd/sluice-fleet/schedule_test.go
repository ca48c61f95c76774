package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	schedulepb "go.temporal.io/api/schedule/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	schedulespb "go.temporal.io/server/api/schedule/v1"
	"go.temporal.io/server/service/worker/scheduler"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// begunAt runs a schedule of the server with a test clock for some days, and returns when runs began, with their IDs. A long run does not end.
func begunAt(t *testing.T, o client.ScheduleOptions, long bool) (times []time.Time, ids []string) {
	t.Helper()
	scheduler.CurrentTweakablePolicies.IterationsBeforeContinueAsNew = 5
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
	env.RegisterActivityWithOptions(func(_ context.Context, r *schedulespb.StartWorkflowRequest) (*schedulespb.StartWorkflowResponse, error) {
		times, ids = append(times, env.Now().UTC()), append(ids, r.GetRequest().GetWorkflowId())
		require.Equal(t, run.FleetWorkflow, r.GetRequest().GetWorkflowType().GetName())
		return &schedulespb.StartWorkflowResponse{RunId: "1", RealStartTime: timestamppb.New(env.Now())}, nil
	}, activity.RegisterOptions{Name: "StartWorkflow"})
	env.RegisterActivityWithOptions(func(_ context.Context, r *schedulespb.WatchWorkflowRequest) (*schedulespb.WatchWorkflowResponse, error) {
		if long {
			return &schedulespb.WatchWorkflowResponse{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}, nil
		}
		return &schedulespb.WatchWorkflowResponse{Status: enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED}, nil
	}, activity.RegisterOptions{Name: "WatchWorkflow"})
	action := o.Action.(*client.ScheduleWorkflowAction)
	s := &schedulepb.ScheduleSpec{CronString: o.Spec.CronExpressions}
	for _, i := range o.Spec.Intervals {
		s.Interval = append(s.Interval, &schedulepb.IntervalSpec{Interval: durationpb.New(i.Every)})
	}
	env.ExecuteWorkflow(scheduler.SchedulerWorkflow, &schedulespb.StartScheduleArgs{
		Schedule: &schedulepb.Schedule{
			Spec: s, Policies: &schedulepb.SchedulePolicies{OverlapPolicy: o.Overlap},
			Action: &schedulepb.ScheduleAction{Action: &schedulepb.ScheduleAction_StartWorkflow{StartWorkflow: &workflowpb.NewWorkflowExecutionInfo{
				WorkflowId: action.ID, WorkflowType: &commonpb.WorkflowType{Name: action.Workflow.(string)}, TaskQueue: &taskqueuepb.TaskQueue{Name: action.TaskQueue},
			}}},
		},
		State: &schedulespb.InternalState{Namespace: "n", NamespaceId: "n", ScheduleId: o.ID, ConflictToken: scheduler.InitialConflictToken},
	})
	return times, ids
}

func TestASchedulesRunsBeginAtTheirTimes(t *testing.T) {
	f := &spec.Fleet{Name: "shop", Concurrency: 1, Stacks: []spec.Stack{{Name: "a", Entry: "a", Stack: "dev", Queue: "q"}}}
	night, err := scheduleOptions(f, spec.Schedule{Name: "night", Operation: "drift", Cron: "0 3 * * *"}, false)
	require.NoError(t, err)
	times, ids := begunAt(t, night, false)
	require.GreaterOrEqual(t, len(times), 3)
	for i, at := range times {
		due := time.Date(2026, 3, 15+i, 3, 0, 0, 0, time.UTC)
		require.Equal(t, due, at.Truncate(time.Minute))
		require.Regexp(t, `^shop/drift/[0-9a-f]+-`+due.Format(time.RFC3339)+"$", ids[i])
	}

	often, err := scheduleOptions(f, spec.Schedule{Name: "often", Operation: "drift", Every: "6h"}, true)
	require.NoError(t, err)
	times, _ = begunAt(t, often, false)
	require.GreaterOrEqual(t, len(times), 3)
	require.Equal(t, 6*time.Hour, times[1].Sub(times[0]).Round(time.Minute))

	// A run that has not ended when the next one is due prevents that one.
	times, _ = begunAt(t, night, true)
	require.Len(t, times, 1)
}
