package take

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Chain is what one item asks of the executor.
type Chain struct {
	Built stages.Built
	Open  int   // tasks and assignments that are not over
	Err   error // why not all steps succeeded

	// Deleted are the deletes that are over, in the order in which they ended.
	Deleted []stages.Deleted

	failed graph.ID // the first task that failed, if one did
}

// Fail records that a task has failed. The chain's error is that of the first task of those that fail, whichever fails first.
func (c *Chain) Fail(task graph.ID, err error) {
	if c.Err == nil || task < c.failed {
		c.Err, c.failed = err, task
	}
}

// Assignment is what a worker of execute is to do.
type Assignment struct {
	Kind  assignmentKind
	Chain *Chain
	Task  graph.ID
	Steps []*stages.Decision
	Cause urn.URN // of a skip: the resource that failed
}

type assignmentKind uint8

const (
	TakeSteps   assignmentKind = iota
	SkipSteps                  // something that the chain needs has failed
	RefuseSteps                // the chain has been refused
)

// Report says how an assignment ended.
type Report struct {
	Assignment
	End taskEnd
	Err error // of a failure
}

type taskEnd uint8

const (
	TaskDone taskEnd = iota
	TaskFailed
	TaskNotBegun // the run has stopped
)
