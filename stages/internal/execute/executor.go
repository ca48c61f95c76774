package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/take"
)

func (e *Executor) Actor() pipeline.Actor[stages.Built, take.Assignment, take.Report, stages.Executed] {
	return pipeline.Actor[stages.Built, take.Assignment, take.Report, stages.Executed]{
		Name:    "execute",
		Workers: e.workers,
		Buffer:  64,
		Receive: func(_ context.Context, b stages.Built, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
			return e.receive(b, x)
		},
		Work: func(_ context.Context, a take.Assignment) (take.Report, error) { return e.taker.CarryOut(a) },
		Resume: func(_ context.Context, rep take.Report, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
			return e.resume(rep, x)
		},
		Flush:   func(context.Context, pipeline.Exchange[take.Assignment, stages.Executed]) error { return e.complete() },
		Abandon: e.abandon,
	}
}

// Executor orders the tasks of a run: those of registrations, of the end phase, and of an import. Only the functions of the
// actor that [Executor.Actor] returns use it; they are never called at the same time.
type Executor struct {
	control *control.Control
	book    *book.Book
	passes  *book.ProgressWriter // of the milestone "over"
	taker   *take.Taker
	workers int
	busy    int
	ready   graph.ReadySet
	jobs    map[graph.ID]job  // tasks that are not over
	urgent  []take.Assignment // chains that do not run; they wait for nothing
	failed  map[graph.ID]bool // tasks that failed or will never begin
	skipped []*take.Chain     // chains that will not be taken, and wait until it is certain why
	queued  int               // tasks that wait for nothing but a worker, as told last
	tell    func(tasks int)   // nil tells nobody
}

// job is a task that is not over.
type job struct {
	*take.Chain
	steps []*stages.Decision
}

// NewExecutor returns the executor of a run. queued is called when the number of tasks that wait for nothing but a worker has
// changed; nil tells nobody.
func NewExecutor(c *control.Control, b *book.Book, passes *book.ProgressWriter, t *take.Taker, workers int, queued func(tasks int)) *Executor {
	return &Executor{
		control: c, book: b, passes: passes, taker: t, workers: max(1, workers), jobs: map[graph.ID]job{}, failed: map[graph.ID]bool{}, tell: queued,
	}
}

// TakeBatch runs tasks that belong to no registration, and waits for them. What fails is recorded. run runs the flow to its end; out of it comes an
// item for each task that deletes something.
func (e *Executor) TakeBatch(b stages.Built, run func(context.Context, pipeline.Flow[stages.Executed]) error) error {
	if len(b.Tasks) == 0 {
		return nil
	}
	batch := pipeline.From("decisions", 0, func(_ context.Context, emit pipeline.Emit[stages.Built]) error { return emit(b) })
	return e.control.Unrecorded(run(e.control.Admitted, pipeline.ViaActor(batch, e.Actor())))
}

// ToEnd runs a flow of which nobody sees what comes out.
func ToEnd(ctx context.Context, f pipeline.Flow[stages.Executed]) error {
	return pipeline.Run(ctx, f, nil)
}

// receive takes a decision: its tasks begin when what they come after is over, all of them after what the registration as a
// whole comes after. A registration that cannot be taken, because of something that failed or because it has been refused,
// is never begun, so that no delete of a replacement runs without its create.
func (e *Executor) receive(b stages.Built, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	c := &take.Chain{Built: b}
	if b.Reply != nil {
		e.taker.Answer(b)
	}
	cause, failed := e.book.FailedDependencyOf(b)
	switch {
	case failed:
		e.decline(c, take.Assignment{Kind: take.SkipSteps, Cause: cause})
	case b.Refusal != nil:
		e.decline(c, take.Assignment{Kind: take.RefuseSteps})
	case len(b.Tasks) == 0: // there is nothing to do, and no more to come
		c.Open = 1
		return e.conclude(c, x)
	default:
		e.add(c)
	}
	return e.dispatch(x)
}

func (e *Executor) add(c *take.Chain) {
	var gate []graph.ID
	for _, d := range c.Built.After {
		gate = append(gate, d.Task)
	}
	c.Open = len(c.Built.Tasks)
	for _, t := range c.Built.Tasks {
		e.jobs[t.ID] = job{Chain: c, steps: t.Steps}
		e.lose(e.ready.Add(t.ID, append(t.After, gate...)...))
	}
}

// decline ends a chain without its tasks.
func (e *Executor) decline(c *take.Chain, a take.Assignment) {
	a.Chain, a.Steps = c, c.Built.Steps()
	c.Open, c.Err = 1, errDeclined
	e.urgent = append(e.urgent, a)
	for _, t := range c.Built.Tasks {
		e.lose(e.ready.AddSkipped(t.ID))
	}
}

var errDeclined = errors.New("not taken")

// lose drops tasks that will never begin. A registration that loses a task because of another one is skipped as a whole.
func (e *Executor) lose(tasks []graph.ID) {
	for _, id := range tasks {
		e.failed[id] = true
		j, known := e.jobs[id]
		if !known {
			continue // of a chain that is declined
		}
		delete(e.jobs, id)
		switch {
		case j.IsBatch():
			// The assignment takes the place of the task.
			e.skip(j.Chain, take.Assignment{Task: id, Steps: j.steps})
			continue
		case j.Err == nil:
			j.Err = errDeclined
			j.Open++ // for the assignment
			e.skipped = append(e.skipped, j.Chain)
		}
		j.Open--
	}
}

// skipLost has registrations skipped that have lost a task. Several of the deletes that a registration waits for may fail: the
// first of them in its list is the cause, whichever failed first. So each waits until all of them are over.
func (e *Executor) skipLost() {
	e.skipped = slices.DeleteFunc(e.skipped, func(c *take.Chain) bool {
		cause := -1
		for i, d := range c.Built.After {
			if _, open := e.jobs[d.Task]; open {
				return false
			}
			if e.failed[d.Task] && cause < 0 {
				cause = i
			}
		}
		e.skip(c, take.Assignment{Steps: c.Built.Steps(), Cause: c.Built.After[cause].URN})
		return true
	})
}

func (e *Executor) skip(c *take.Chain, a take.Assignment) {
	a.Kind, a.Chain = take.SkipSteps, c
	e.urgent = append(e.urgent, a)
}

// resume records how an assignment has ended.
func (e *Executor) resume(rep take.Report, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	e.busy--
	c := rep.Chain
	var deleted []stages.Deleted
	if rep.Kind == take.TakeSteps {
		delete(e.jobs, rep.Task)
		deleted = e.deletedBy(rep)
		switch rep.End {
		case take.TaskDone:
			e.ready.Finish(rep.Task)
		case take.TaskFailed:
			c.Fail(rep.Task, rep.Err)
			e.failed[rep.Task] = true
			e.lose(e.ready.Fail(rep.Task))
		case take.TaskNotBegun:
			e.ready.Fail(rep.Task) // the run is over, and so is whatever waits
		}
	} else if rep.Err != nil {
		c.Err = rep.Err
	}
	if c.IsBatch() && len(deleted) > 0 {
		if err := x.Emit(stages.Executed{Seq: c.Built.Seq, URN: deleted[0].URN, Steps: rep.Steps, Err: rep.Err, Deleted: deleted}); err != nil {
			return err
		}
	} else {
		c.Deleted = append(c.Deleted, deleted...)
	}
	if err := e.conclude(c, x); err != nil {
		return err
	}
	return e.dispatch(x)
}

// deletedBy returns the deletes of a task that is over.
func (e *Executor) deletedBy(rep take.Report) []stages.Deleted {
	var out []stages.Deleted
	for _, d := range rep.Steps {
		if !stages.IsDelete(d) {
			continue
		}
		over := stages.Deleted{Deleting: stages.DeletingOf(d)}
		if rep.End != take.TaskDone {
			switch e.book.Outcomes.Of(d).Fate {
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

// conclude ends one part of a chain, and with the last one the chain. Only then does the program learn that a step failed: what
// it does next may stop the run, and must not decide whether the rest of the chain is taken.
func (e *Executor) conclude(c *take.Chain, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	if c.Open--; c.Open > 0 {
		return nil
	}
	if c.IsBatch() {
		return nil
	}
	if c.Err != nil {
		c.Built.PendingReply.Answer(e.book.FailedReply(c.Built))
	}
	e.passes.Pass(c.Built.Seq)
	return x.Emit(stages.Executed{Seq: c.Built.Seq, URN: c.Built.URN, Steps: c.Built.Steps(), Err: c.Err, Deleted: c.Deleted})
}

// dispatch gives each idle worker something to do.
func (e *Executor) dispatch(x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	err := e.occupy(x)
	if n := e.ready.Free(); e.tell != nil && n != e.queued {
		e.queued = n
		e.tell(n)
	}
	return err
}

func (e *Executor) occupy(x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	e.skipLost()
	for e.busy < e.workers {
		if len(e.urgent) > 0 {
			a := e.urgent[0]
			e.urgent = e.urgent[1:]
			e.busy++
			x.Ask(a)
			continue
		}
		id, ok := e.ready.Next()
		if !ok {
			return nil
		}
		j := e.jobs[id]
		if len(j.steps) > 0 {
			e.busy++
			x.Ask(take.Assignment{Chain: j.Chain, Task: id, Steps: j.steps})
			continue
		}
		delete(e.jobs, id)
		e.ready.Finish(id)
		if err := e.conclude(j.Chain, x); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that nothing waits for something that was never decided on.
func (e *Executor) complete() error {
	if n := e.ready.Open(); n > 0 {
		return fmt.Errorf("%d tasks wait for something that never came", n)
	}
	return nil
}

// abandon answers those who wait for steps that will not run.
func (e *Executor) abandon(reason error) {
	for _, j := range e.jobs {
		j.Built.PendingReply.Reject(reason)
	}
	for _, a := range e.urgent {
		a.Reject(reason)
	}
	for _, c := range e.skipped {
		c.Built.Reject(reason)
	}
}
