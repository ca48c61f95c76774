package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"

	batchpb "go.temporal.io/api/batch/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"
)

// Role determines the rights of the holder of a token at the fleet's own server.
type Role string

// The roles. Each has a token of its own.
const (
	Client   Role = "client"   // begins, follows and cancels runs, and keeps schedules
	Worker   Role = "worker"   // works for runs
	Approver Role = "approver" // sends approvals, and reads nothing
)

var roles = []Role{Client, Worker, Approver}

// The workflow that workers begin, and the signal that approvers send. Package run has the same names, but does not depend on a server.
const (
	limitWorkflow = "limit"
	approveSignal = "approve"
)

// rights are the calls of Temporal's API that each role may make. Nobody may make the others, for example to reset or delete runs, to complete
// activities by their names, or to administer the server.
var rights = map[Role][]string{
	Client: {
		"StartWorkflowExecution", "SignalWorkflowExecution", "RequestCancelWorkflowExecution", "TerminateWorkflowExecution", "DescribeWorkflowExecution",
		"QueryWorkflow", "GetWorkflowExecutionHistory", "ListWorkflowExecutions", "CountWorkflowExecutions", "CreateSchedule", "DeleteSchedule",
		"DescribeSchedule", "PatchSchedule", "ListSchedules",
	},
	Worker: {
		"PollWorkflowTaskQueue", "RespondWorkflowTaskCompleted", "RespondWorkflowTaskFailed", "PollActivityTaskQueue", "RespondActivityTaskCompleted",
		"RespondActivityTaskFailed", "RespondActivityTaskCanceled", "RecordActivityTaskHeartbeat", "RecordWorkerHeartbeat", "RespondQueryTaskCompleted",
		"ResetStickyTaskQueue", "ShutdownWorker", "GetWorkflowExecutionHistory", "DescribeWorkflowExecution", "QueryWorkflow", "PollNexusTaskQueue",
	},
}

// everybody are the calls that every role may make: they concern only the server.
var everybody = []string{"GetSystemInfo", "DescribeNamespace", "GetClusterInfo"}

// may reports whether a role may make a call.
func (r Role) may(call string, request any) bool {
	switch {
	case slices.Contains(everybody, call), slices.Contains(rights[r], call):
		return true
	case r == Worker && call == "SignalWithStartWorkflowExecution":
		asks, is := request.(*workflowservice.SignalWithStartWorkflowExecutionRequest)
		return is && asks.GetWorkflowType().GetName() == limitWorkflow
	case r == Approver && call == "SignalWorkflowExecution":
		signal, is := request.(*workflowservice.SignalWorkflowExecutionRequest)
		return is && signal.GetSignalName() == approveSignal
	case r == Approver && call == "StartBatchOperation":
		batch, is := request.(*workflowservice.StartBatchOperationRequest)
		signals, isSignal := batch.GetOperation().(*workflowservice.StartBatchOperationRequest_SignalOperation)
		return is && isSignal && isApproval(signals.SignalOperation)
	}
	return false
}

func isApproval(signal *batchpb.BatchOperationSignal) bool {
	return signal.GetSignal() == approveSignal
}

// tokens maps the tokens of one server to roles. Only the owner of the server can read the tokens.
type tokens map[Role]string

// GetClaims implements [authorization.ClaimMapper].
func (t tokens) GetClaims(a *authorization.AuthInfo) (*authorization.Claims, error) {
	shown := ""
	if a != nil {
		shown = strings.TrimPrefix(a.AuthToken, "Bearer ")
	}
	for _, role := range roles {
		if token := t[role]; token != "" && subtle.ConstantTimeCompare([]byte(shown), []byte(token)) == 1 {
			return &authorization.Claims{Subject: string(role), Extensions: role}, nil
		}
	}
	return nil, errors.New("the token of the fleet's folder is missing")
}

// AuthInfoRequired makes the server call GetClaims even without a token.
func (t tokens) AuthInfoRequired() bool { return true }

// authorizer allows the calls of the caller's role, and all calls of the server's own services.
type authorizer struct{}

// Authorize implements [authorization.Authorizer].
func (authorizer) Authorize(_ context.Context, who *authorization.Claims, what *authorization.CallTarget) (authorization.Result, error) {
	allowed := authorization.IsHealthCheckAPI(what.APIName)
	if who != nil {
		role, _ := who.Extensions.(Role)
		call := what.APIName[strings.LastIndexByte(what.APIName, '/')+1:]
		isOurs := what.Namespace == "" || what.Namespace == Namespace
		allowed = allowed || who.System == authorization.RoleAdmin || role != "" && isOurs && role.may(call, what.Request)
	}
	if !allowed {
		return authorization.Result{Decision: authorization.DecisionDeny}, nil
	}
	return authorization.Result{Decision: authorization.DecisionAllow}, nil
}
