package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
)

// Actor returns the stage that executes the tasks. It may be used once.
func (sc *Scheduler) Actor() pipeline.Actor[stages.Built, step.Assignment, step.Report, stages.Executed] {
	return pipeline.Actor[stages.Built, step.Assignment, step.Report, stages.Executed]{
		Name:    "execute",
		Workers: sc.workers,
		Buffer:  64,
		Receive: func(_ context.Context, b stages.Built, x pipeline.Exchange[step.Assignment, stages.Executed]) error {
			return sc.receive(b, x)
		},
		Work: func(_ context.Context, a step.Assignment) (step.Report, error) { return sc.executor.Execute(a) },
		Resume: func(_ context.Context, rep step.Report, x pipeline.Exchange[step.Assignment, stages.Executed]) error {
			return sc.resume(rep, x)
		},
		Flush:   func(context.Context, pipeline.Exchange[step.Assignment, stages.Executed]) error { return sc.complete() },
		Abandon: sc.abandon,
	}
}

// Scheduler orders the tasks of a run: those of registrations, of the end phase, and of an import. Only the functions of the actor
// that [Scheduler.Actor] returns use it, and these are never called at the same time.
type Scheduler struct {
	control  *control.Control
	rooms    *rooms.Rooms
	passes   *rooms.ProgressWriter // of the milestone "over"
	executor *step.Executor
	workers  int
	busy     int
	ready    graph.ReadySet
	jobs     map[graph.ID]job  // tasks that are not over
	urgent   []step.Assignment // chains that are not executed; they wait for nothing
	failed   map[graph.ID]bool // tasks that failed or will never begin
	skipped  []*step.Chain     // chains that will not be executed, and wait until the cause is certain
	queued   int               // tasks that wait only for a worker, as last reported
	report   func(tasks int)   // nil reports nothing
}

// job is a task that is not over.
type job struct {
	chain *step.Chain
	steps []*stages.Decision
}

// NewScheduler returns the scheduler of a run. queued is called when the number of tasks that wait only for a worker has changed;
// it may be nil.
func NewScheduler(c *control.Control, b *rooms.Rooms, passes *rooms.ProgressWriter, t *step.Executor, workers int, queued func(tasks int)) *Scheduler {
	return &Scheduler{
		control: c, rooms: b, passes: passes, executor: t, workers: max(1, workers), jobs: map[graph.ID]job{}, failed: map[graph.ID]bool{}, report: queued,
	}
}

// RunBatch runs tasks that belong to no registration, and waits for them. Failures are recorded. run runs the flow to its end; the
// flow emits an item for each task that deletes something.
func (sc *Scheduler) RunBatch(b stages.Built, run func(context.Context, pipeline.Flow[stages.Executed]) error) error {
	if len(b.Tasks) == 0 {
		return nil
	}
	batch := pipeline.From("decisions", 0, func(_ context.Context, emit pipeline.Emit[stages.Built]) error { return emit(b) })
	return sc.control.Unrecorded(run(sc.control.Admitted, pipeline.ViaActor(batch, sc.Actor())))
}

// ToEnd runs a flow and discards its items.
func ToEnd(ctx context.Context, f pipeline.Flow[stages.Executed]) error {
	return pipeline.Run(ctx, f, nil)
}

// receive adds the tasks of a decision. A task begins when the tasks that it comes after are over, and those that the whole
// registration comes after. A registration that cannot be executed, because something failed or because it has been refused, never
// begins, so that no delete of a replacement runs without its create.
func (sc *Scheduler) receive(b stages.Built, x pipeline.Exchange[step.Assignment, stages.Executed]) error {
	c := &step.Chain{Built: b}
	if b.Reply != nil {
		sc.executor.Answer(b)
	}
	if b.Course == stages.Refused {
		c.Err = errDeclined
	}
	cause, failed := sc.rooms.Failures.DependencyOf(b)
	switch {
	case failed:
		sc.decline(c, step.Assignment{Kind: step.SkipSteps, Cause: cause})
	case b.Refusal != nil:
		sc.decline(c, step.Assignment{Kind: step.RefuseSteps})
	case len(b.Tasks) == 0: // there is nothing to do, and no more to come
		c.Open = 1
		return sc.endPart(c, x)
	default:
		sc.add(c)
	}
	return sc.dispatch(x)
}

func (sc *Scheduler) add(c *step.Chain) {
	var gate []graph.ID
	for _, d := range c.Built.After {
		gate = append(gate, d.Task)
	}
	c.Open = len(c.Built.Tasks)
	for _, t := range c.Built.Tasks {
		sc.jobs[t.ID] = job{chain: c, steps: t.Steps}
		sc.lose(sc.ready.Add(t.ID, append(t.After, gate...)...))
	}
}

// decline ends a chain without its tasks.
func (sc *Scheduler) decline(c *step.Chain, a step.Assignment) {
	a.Chain, a.Steps = c, c.Built.Steps()
	c.Open, c.Err = 1, errDeclined
	sc.urgent = append(sc.urgent, a)
	for _, t := range c.Built.Tasks {
		sc.lose(sc.ready.AddSkipped(t.ID))
	}
}

var errDeclined = errors.New("not taken")

// lose drops tasks that will never begin. A registration that loses a task because of a failure is skipped as a whole.
func (sc *Scheduler) lose(tasks []graph.ID) {
	for _, id := range tasks {
		sc.failed[id] = true
		j, known := sc.jobs[id]
		if !known {
			continue // of a chain that is declined
		}
		delete(sc.jobs, id)
		switch {
		case j.chain.IsBatch():
			// The assignment replaces the task.
			sc.skip(j.chain, step.Assignment{Task: id, Steps: j.steps})
			continue
		case j.chain.Err == nil:
			j.chain.Err = errDeclined
			j.chain.Open++ // for the assignment
			sc.skipped = append(sc.skipped, j.chain)
		}
		j.chain.Open--
	}
}

// skipLost skips the registrations that have lost a task. Several of the deletes that a registration waits for may fail: the first
// of them in its list is the cause, whichever failed first. So each registration waits until all of them are over.
func (sc *Scheduler) skipLost() {
	sc.skipped = slices.DeleteFunc(sc.skipped, func(c *step.Chain) bool {
		cause := -1
		for i, d := range c.Built.After {
			if _, open := sc.jobs[d.Task]; open {
				return false
			}
			if sc.failed[d.Task] && cause < 0 {
				cause = i
			}
		}
		sc.skip(c, step.Assignment{Steps: c.Built.Steps(), Cause: c.Built.After[cause].URN})
		return true
	})
}

func (sc *Scheduler) skip(c *step.Chain, a step.Assignment) {
	a.Kind, a.Chain = step.SkipSteps, c
	sc.urgent = append(sc.urgent, a)
}

// resume records the end of an assignment.
func (sc *Scheduler) resume(rep step.Report, x pipeline.Exchange[step.Assignment, stages.Executed]) error {
	sc.busy--
	c := rep.Assignment.Chain
	var deleted []stages.Deleted
	if rep.Assignment.Kind == step.ExecuteSteps {
		delete(sc.jobs, rep.Assignment.Task)
		deleted = sc.deletedBy(rep)
		switch rep.End {
		case step.TaskDone:
			sc.ready.Finish(rep.Assignment.Task)
		case step.TaskFailed:
			c.Fail(rep.Assignment.Task, rep.Err)
			sc.failed[rep.Assignment.Task] = true
			sc.lose(sc.ready.Fail(rep.Assignment.Task))
		case step.TaskNotBegun:
			sc.ready.Fail(rep.Assignment.Task) // the run is over, and so are the tasks that wait for this one
		}
	} else if rep.Err != nil {
		c.Err = rep.Err
	}
	if c.IsBatch() && len(deleted) > 0 {
		if err := x.Emit(stages.Executed{Seq: c.Built.Seq, URN: deleted[0].URN, Steps: rep.Assignment.Steps, Err: rep.Err, Deleted: deleted}); err != nil {
			return err
		}
	} else {
		c.Deleted = append(c.Deleted, deleted...)
	}
	if err := sc.endPart(c, x); err != nil {
		return err
	}
	return sc.dispatch(x)
}

// deletedBy returns the deletes of a finished task.
func (sc *Scheduler) deletedBy(rep step.Report) []stages.Deleted {
	var out []stages.Deleted
	for _, d := range rep.Assignment.Steps {
		if !stages.IsDelete(d) {
			continue
		}
		over := stages.Deleted{Deleting: stages.DeletingOf(d)}
		if rep.End != step.TaskDone {
			switch sc.rooms.Outcomes.Of(d).Fate {
			case stages.FateDone:
			case stages.FateFailed:
				over.Err = rep.Err
			default:
				continue
			}
		}
		out = append(out, over)
	}
	return out
}

// endPart ends one part of a chain, and with the last one the chain. Only then does the program get the reply of a failed step: its
// next action may stop the run, and must not decide whether the rest of the chain is executed.
func (sc *Scheduler) endPart(c *step.Chain, x pipeline.Exchange[step.Assignment, stages.Executed]) error {
	if c.Open--; c.Open > 0 {
		return nil
	}
	if c.IsBatch() {
		return nil
	}
	if c.Err != nil {
		c.Built.PendingReply.Answer(sc.rooms.Failures.Reply(c.Built))
	}
	sc.passes.Pass(c.Built.Seq)
	return x.Emit(stages.Executed{Seq: c.Built.Seq, URN: c.Built.URN, Steps: c.Built.Steps(), Err: c.Err, Deleted: c.Deleted})
}

// dispatch gives an assignment to each idle worker.
func (sc *Scheduler) dispatch(x pipeline.Exchange[step.Assignment, stages.Executed]) error {
	err := sc.occupy(x)
	if n := sc.ready.Free(); sc.report != nil && n != sc.queued {
		sc.queued = n
		sc.report(n)
	}
	return err
}

func (sc *Scheduler) occupy(x pipeline.Exchange[step.Assignment, stages.Executed]) error {
	sc.skipLost()
	for sc.busy < sc.workers {
		if len(sc.urgent) > 0 {
			a := sc.urgent[0]
			sc.urgent = sc.urgent[1:]
			sc.busy++
			x.Ask(a)
			continue
		}
		id, ok := sc.ready.Next()
		if !ok {
			return nil
		}
		j := sc.jobs[id]
		if len(j.steps) > 0 {
			sc.busy++
			x.Ask(step.Assignment{Chain: j.chain, Task: id, Steps: j.steps})
			continue
		}
		delete(sc.jobs, id)
		sc.ready.Finish(id)
		if err := sc.endPart(j.chain, x); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that no task waits for one that was never decided on.
func (sc *Scheduler) complete() error {
	if n := sc.ready.Open(); n > 0 {
		return fmt.Errorf("%d tasks wait for something that never came", n)
	}
	return nil
}

// abandon rejects the requests that wait for steps that will not run.
func (sc *Scheduler) abandon(reason error) {
	for _, j := range sc.jobs {
		j.chain.Built.PendingReply.Reject(reason)
	}
	for _, a := range sc.urgent {
		a.Reject(reason)
	}
	for _, c := range sc.skipped {
		c.Built.Reject(reason)
	}
}
