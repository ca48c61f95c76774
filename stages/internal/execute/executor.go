package execute

import (
	"context"
	"errors"
	"fmt"

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
// actor that [Execute] returns use it; they are never called at the same time.
type Executor struct {
	control *control.Control
	book    *book.Book
	taker   *take.Taker
	workers int
	busy    int
	ready   graph.ReadySet
	jobs    map[graph.ID]job  // tasks that are not over
	urgent  []take.Assignment // chains that are not taken; they wait for nothing
}

// job is a task that is not over.
type job struct {
	*take.Chain
	steps []*stages.Decision
}

func NewExecutor(c *control.Control, b *book.Book, t *take.Taker, workers int) *Executor {
	return &Executor{control: c, book: b, taker: t, workers: max(1, workers), jobs: map[graph.ID]job{}}
}

// TakeBatch has tasks taken that belong to no registration, and waits for them. What fails is recorded.
func (e *Executor) TakeBatch(b stages.Built) error {
	if len(b.Tasks) == 0 {
		return nil
	}
	batch := pipeline.From("decisions", 0, func(_ context.Context, emit pipeline.Emit[stages.Built]) error { return emit(b) })
	return e.control.Unrecorded(pipeline.Run(e.control.Admitted, pipeline.ViaActor(batch, e.Actor()), nil))
}

// receive takes a decision: its tasks begin when what they come after is over, all of them after what the registration as a
// whole comes after. A registration that cannot be taken, because of something that failed or because it has been refused,
// is never begun, so that no delete of a replacement runs without its create.
func (e *Executor) receive(b stages.Built, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	c := &take.Chain{Built: b}
	cause, blamed := e.book.FailedDependencyOf(b)
	switch {
	case blamed:
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

// decline has a chain end without its tasks.
func (e *Executor) decline(c *take.Chain, a take.Assignment) {
	a.Chain, a.Steps = c, c.Built.Steps()
	c.Open, c.Err = 1, errDeclined
	e.urgent = append(e.urgent, a)
	for _, t := range c.Built.Tasks {
		e.lose(e.ready.AddSkipped(t.ID))
	}
}

var errDeclined = errors.New("not taken")

// lose lets tasks go that will never begin. A registration that loses a task because of another one is skipped as a whole.
func (e *Executor) lose(tasks []graph.ID) {
	for _, id := range tasks {
		j, known := e.jobs[id]
		if !known {
			continue // of a chain that is declined
		}
		delete(e.jobs, id)
		switch {
		case j.IsBatch():
			j.Open-- // replaced by the assignment
			e.skip(j.Chain, take.Assignment{Task: id, Steps: j.steps})
			continue
		case j.Err == nil:
			j.Err = errDeclined
			e.skip(j.Chain, take.Assignment{Steps: j.Built.Steps(), Cause: j.Built.After[0].URN})
		}
		j.Open--
	}
}

func (e *Executor) skip(c *take.Chain, a take.Assignment) {
	a.Kind, a.Chain = take.SkipSteps, c
	c.Open++
	e.urgent = append(e.urgent, a)
}

// resume takes note of what has become of an assignment.
func (e *Executor) resume(rep take.Report, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	e.busy--
	c := rep.Chain
	if rep.Kind == take.TakeSteps {
		delete(e.jobs, rep.Task)
		switch rep.End {
		case take.TaskDone:
			e.ready.Finish(rep.Task)
		case take.TaskFailed:
			c.Err = rep.Err
			e.lose(e.ready.Fail(rep.Task))
		case take.TaskNotBegun:
			e.ready.Fail(rep.Task) // the run is over, and whatever waits with it
		}
	} else if rep.Err != nil {
		c.Err = rep.Err
	}
	if err := e.conclude(c, x); err != nil {
		return err
	}
	return e.dispatch(x)
}

// conclude ends one part of a chain, and with the last one the chain.
func (e *Executor) conclude(c *take.Chain, x pipeline.Exchange[take.Assignment, stages.Executed]) error {
	if c.Open--; c.Open > 0 {
		return nil
	}
	if c.IsBatch() {
		return nil
	}
	e.book.Progress.Pass(c.Built.Seq, book.Over)
	return x.Emit(stages.Executed{URN: c.Built.URN, Steps: c.Built.Steps(), Err: c.Err})
}

// dispatch gives whoever of the crew has nothing to do something to do.
func (e *Executor) dispatch(x pipeline.Exchange[take.Assignment, stages.Executed]) error {
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

// abandon answers whoever waits for steps that will not be taken.
func (e *Executor) abandon(reason error) {
	for _, j := range e.jobs {
		j.Built.Question.Reject(reason)
	}
	for _, a := range e.urgent {
		a.Reject(reason)
	}
}
