package server

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchpb "go.temporal.io/api/batch/v1"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"

	"github.com/sluice-iac/sluice/fleet/run"
)

func TestRolesMayDoWhatTheyNeed(t *testing.T) {
	require.Equal(t, run.LimitWorkflow, limitWorkflow)
	require.Equal(t, run.ApproveSignal, approveSignal)
	signal := func(name string) any { return &workflowservice.SignalWorkflowExecutionRequest{SignalName: name} }
	batch := func(name string) any {
		return &workflowservice.StartBatchOperationRequest{Operation: &workflowservice.StartBatchOperationRequest_SignalOperation{SignalOperation: &batchpb.BatchOperationSignal{Signal: name}}}
	}
	begin := func(kind string) any {
		return &workflowservice.SignalWithStartWorkflowExecutionRequest{WorkflowType: &commonpb.WorkflowType{Name: kind}}
	}
	end := &workflowservice.StartBatchOperationRequest{Operation: &workflowservice.StartBatchOperationRequest_TerminationOperation{}}
	for _, c := range []struct {
		call    string
		request any
		may     []Role
	}{
		{"StartWorkflowExecution", nil, []Role{Client}},
		{"ListWorkflowExecutions", nil, []Role{Client}},
		{"TerminateWorkflowExecution", nil, []Role{Client}},
		{"GetWorkflowExecutionHistory", nil, []Role{Client, Worker}},
		{"PollActivityTaskQueue", nil, []Role{Worker}},
		{"SignalWithStartWorkflowExecution", begin(run.LimitWorkflow), []Role{Worker}},
		{"SignalWithStartWorkflowExecution", begin(run.FleetWorkflow), nil},
		{"SignalWorkflowExecution", signal(run.ApproveSignal), []Role{Client, Approver}},
		{"SignalWorkflowExecution", signal(run.AbortSignal), []Role{Client}},
		{"StartBatchOperation", batch(run.ApproveSignal), []Role{Approver}},
		{"StartBatchOperation", batch(run.AbortSignal), nil},
		{"StartBatchOperation", end, nil},
		{"ResetWorkflowExecution", nil, nil},
		{"DeleteWorkflowExecution", nil, nil},
		{"StartActivityExecution", nil, nil},
		{"UpdateNamespace", nil, nil},
		{"GetSystemInfo", nil, []Role{Client, Worker, Approver}},
	} {
		for _, role := range append(roles, "") {
			claims := &authorization.Claims{Extensions: role}
			is, err := authorizer{}.Authorize(t.Context(), claims, &authorization.CallTarget{APIName: "/service/" + c.call, Namespace: Namespace, Request: c.request})
			require.NoError(t, err)
			want := authorization.DecisionDeny
			for _, may := range c.may {
				if may == role {
					want = authorization.DecisionAllow
				}
			}
			require.Equal(t, want, is.Decision, "%s: %s", role, c.call)
		}
	}
	elsewhere, err := authorizer{}.Authorize(t.Context(), &authorization.Claims{Extensions: Client}, &authorization.CallTarget{APIName: "/s/ListWorkflowExecutions", Namespace: "temporal-system"})
	require.NoError(t, err)
	require.Equal(t, authorization.DecisionDeny, elsewhere.Decision)
}
