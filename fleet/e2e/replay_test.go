package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
)

// thief has the token of clients and no key: it replays sealed data.
type thief struct {
	t *testing.T
	client.Client
}

// events returns the history of a workflow.
func (h thief) events(id, attempt string) []*historypb.HistoryEvent {
	h.t.Helper()
	var out []*historypb.HistoryEvent
	for i := h.GetWorkflowHistory(h.t.Context(), id, attempt, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); i.HasNext(); {
		e, err := i.Next()
		require.NoError(h.t, err)
		out = append(out, e)
	}
	return out
}

// begin begins a workflow with an earlier sealed input, and returns its name on the server.
func (h thief) begin(kind, id string, input *commonpb.Payloads) string {
	h.t.Helper()
	is, err := h.WorkflowService().StartWorkflowExecution(h.t.Context(), &workflowservice.StartWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowId: id, WorkflowType: &commonpb.WorkflowType{Name: kind}, Input: input, RequestId: id + time.Now().String(),
		TaskQueue: &taskqueuepb.TaskQueue{Name: run.WorkflowQueue("shop")},
	})
	require.NoError(h.t, err)
	return is.GetRunId()
}

// send sends an earlier sealed signal.
func (h thief) send(id, attempt string, signal *historypb.WorkflowExecutionSignaledEventAttributes) {
	h.t.Helper()
	_, err := h.WorkflowService().SignalWorkflowExecution(h.t.Context(), &workflowservice.SignalWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: attempt}, SignalName: signal.GetSignalName(), Input: signal.GetInput(),
	})
	require.NoError(h.t, err)
}

// settled waits until a worker has processed all events of a workflow, and returns its history.
func (h thief) settled(id, attempt string) (history []*historypb.HistoryEvent) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		history = h.events(id, attempt)
		last := history[len(history)-1].GetEventType()
		return last == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED || strings.HasPrefix(last.String(), "WorkflowExecution") && last != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED &&
			last != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED || last == enumspb.EVENT_TYPE_TIMER_STARTED || last == enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED
	}, longest, 100*time.Millisecond)
	return history
}

// A thief with a token and no key can replay the request and the approval of a former destroy. They have no effect.
func TestWhatWasSealedIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	files := three()
	files["fleet.yaml"] = strings.Replace(files["fleet.yaml"], "db: {", "db: {approve: [destroy], ", 1)
	p := newPlace(t, files)
	p.fleet("up", "--yes")
	destroy := p.begin("sluice-fleet", "destroy", "--yes")
	destroy.says(t, "approval   db: `sluice fleet approve db`; delete ")
	p.fleet("approve", "db")
	require.NoError(t, destroy.Wait(), "%s", &destroy.text)
	require.Contains(t, destroy.text.String(), "approved by ")
	require.Empty(t, p.objects("cloud"))
	p.fleet("up", "--yes")
	made := p.objects("cloud")
	require.Len(t, made, 3)

	h := thief{t, p.connect()}
	id, _, _ := strings.Cut(strings.TrimPrefix(lines(p.fleet("history"), "shop/destroy/")[0], " "), " ")
	former := h.events(id, "")
	stack := h.events(run.StackID(id, "web"), "")
	w := p.startWorker()
	defer w.kill()

	again := h.begin(run.FleetWorkflow, id, former[0].GetWorkflowExecutionStartedEventAttributes().GetInput())
	signals := 0
	for _, e := range former {
		if s := e.GetWorkflowExecutionSignaledEventAttributes(); s != nil {
			h.send(id, again, s)
			signals++
		}
	}
	require.Equal(t, 2, signals, "the run was begun and approved")
	for _, e := range h.settled(id, again) {
		require.NotContains(t, e.GetEventType().String(), "Activity")
		require.NotContains(t, e.GetEventType().String(), "ChildWorkflow")
	}
	// Under another ID, as the workflow of a stack, and as that of a limit.
	for _, c := range []struct {
		kind, id string
		input    *commonpb.Payloads
	}{
		{run.FleetWorkflow, "shop/destroy/another", former[0].GetWorkflowExecutionStartedEventAttributes().GetInput()},
		{run.StackWorkflow, run.StackID(id, "web"), stack[0].GetWorkflowExecutionStartedEventAttributes().GetInput()},
		{run.LimitWorkflow, id + "/limit", former[0].GetWorkflowExecutionStartedEventAttributes().GetInput()},
	} {
		for _, e := range h.settled(c.id, h.begin(c.kind, c.id, c.input)) {
			require.NotContains(t, e.GetEventType().String(), "Activity", c.kind)
		}
	}
	// A former run cannot be reset to its middle.
	_, err := h.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: again}, WorkflowTaskFinishEventId: 4, RequestId: "again",
	})
	require.ErrorContains(t, err, "Request unauthorized")
	require.Equal(t, made, p.objects("cloud"))
}

// An approval refers to the plan that the run has shown. A changed plan is shown again.
func TestAnApprovalIsOfThePlanThatWasShown(t *testing.T) {
	t.Parallel()
	files := three()
	files["fleet.yaml"] = strings.Replace(files["fleet.yaml"], "db: {", "db: {approve: [up], ", 1)
	p := newPlace(t, files)
	up := p.begin("sluice-fleet", "up", "--yes")
	up.says(t, "approval   db: `sluice fleet approve db`; create ")
	files["db/Pulumi.yaml"] = strings.Replace(files["db/Pulumi.yaml"], "size: {type: integer, default: 1}", "size: {type: integer, default: 7}", 1)
	p.write(map[string]string{"db/Pulumi.yaml": files["db/Pulumi.yaml"]})
	p.fleet("approve", "db")
	up.says(t, "the preview has changed since ")
	require.NotContains(t, p.objects("cloud"), "obj0-db0a1b2c3d")
	out, status := p.run("sluice", "fleet", "approve", "db", "--plan", "another")
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "waits with the plan ")
	p.fleet("approve", "db")
	require.NoError(t, up.Wait(), "%s", &up.text)
	require.Len(t, p.objects("cloud"), 3)
	size, status := p.run("sluice", "-C", "db", "stack", "output", "--stack", "dev", "size")
	require.Equal(t, 0, status)
	require.Equal(t, "7\n", size)
}
