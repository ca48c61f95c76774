package step

import (
	"fmt"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Chain is one item of build, or a batch, while its tasks are executed.
type Chain struct {
	Built stages.Built
	Open  int   // tasks and assignments that are not over
	Err   error // the error of a failed step; nil if all succeeded

	// Deleted are the deletes that are over, in the order in which they ended.
	Deleted []stages.Deleted

	failed graph.ID // the first task that failed, if one did
}

// Fail records that a task has failed. The chain's error is that of the first failed task, whichever fails first.
func (c *Chain) Fail(task graph.ID, err error) {
	if c.Err == nil || task < c.failed {
		c.Err, c.failed = err, task
	}
}

// IsBatch reports whether the tasks belong to no registration: those of the end phase and of an import, each of which fails by
// itself.
func (c *Chain) IsBatch() bool { return c.Built.PendingReply == nil }

// Assignment is one piece of work for a worker of execute.
type Assignment struct {
	Kind  assignmentKind
	Chain *Chain
	Task  graph.ID
	Steps []*stages.Decision
	Cause urn.URN // of a skip: the resource that failed
}

type assignmentKind uint8

const (
	ExecuteSteps assignmentKind = iota
	SkipSteps                   // a resource that the chain needs has failed
	RefuseSteps                 // the chain has been refused
)

// Reject replies that the steps are not executed.
func (a Assignment) Reject(err error) { a.Chain.Built.PendingReply.Reject(err) }

// Sequence is the number of the registration.
func (a Assignment) Sequence() int64 { return int64(a.Chain.Built.Seq) }

// String names the resource for messages about a panic.
func (a Assignment) String() string {
	if len(a.Steps) > 0 {
		return fmt.Sprintf("%s of %s", a.Steps[0].Op, a.Steps[0].URN)
	}
	return string(a.Chain.Built.URN)
}

// Report has the end of an assignment.
type Report struct {
	Assignment Assignment
	End        taskEnd
	Err        error // of a failure
}

type taskEnd uint8

const (
	TaskDone taskEnd = iota
	TaskFailed
	TaskNotBegun // the run has stopped
)
