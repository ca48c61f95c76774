package run

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Register registers the workflows.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(Fleet, workflow.RegisterOptions{Name: FleetWorkflow})
	r.RegisterWorkflowWithOptions(Limit, workflow.RegisterOptions{Name: LimitWorkflow})
	r.RegisterWorkflowWithOptions(Stack, workflow.RegisterOptions{Name: StackWorkflow})
}
