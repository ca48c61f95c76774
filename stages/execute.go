package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/urn"
)

// Execute is the stage that has the steps taken (steps.md 9). Its one writer knows what waits for what; a crew of as many as
// the run has workers takes the steps, each task as soon as what it comes after is done. The crew calls providers, records
// each operation before it begins and after it ends, and answers the program. In previews it does the same without changing
// or recording anything.
func Execute(r *Run) pipeline.Actor[Built, Assignment, Report, Executed] {
	e := r.executor
	return pipeline.Actor[Built, Assignment, Report, Executed]{
		Name:    "execute",
		Workers: e.workers,
		Buffer:  64,
		Receive: func(_ context.Context, b Built, x pipeline.Exchange[Assignment, Executed]) error {
			return e.receive(b, x)
		},
		Work: func(_ context.Context, a Assignment) (Report, error) { return r.carryOut(a) },
		Resume: func(_ context.Context, rep Report, x pipeline.Exchange[Assignment, Executed]) error {
			return e.resume(rep, x)
		},
		Flush:   func(context.Context, pipeline.Exchange[Assignment, Executed]) error { return e.complete() },
		Abandon: e.abandon,
	}
}

// executor orders the tasks of a run: those of registrations, of the end phase, and of an import. Only the functions of the
// actor that [Execute] returns use it; they are never called at the same time.
type executor struct {
	run     *Run
	workers int
	busy    int
	ready   graph.ReadySet
	jobs    map[graph.ID]job // tasks that are not over
	urgent  []Assignment     // chains that are not taken; they wait for nothing
}

// job is a task that is not over.
type job struct {
	*chain
	steps []*Decision
}

// chain is what one item has the executor do.
type chain struct {
	built Built
	open  int   // tasks and assignments that are not over
	err   error // why not all steps succeeded
}

// isBatch reports whether the tasks belong to no registration: those of the end phase and of an import, each of which fails
// for itself.
func (c *chain) isBatch() bool { return c.built.Question == nil }

func newExecutor(r *Run) *executor {
	return &executor{run: r, workers: max(1, r.Workers), jobs: map[graph.ID]job{}}
}

// Assignment is what a member of execute's crew is to do.
type Assignment struct {
	kind  assignmentKind
	chain *chain
	task  graph.ID
	steps []*Decision
	cause urn.URN // of a skip: the resource that failed
}

type assignmentKind uint8

const (
	takeSteps   assignmentKind = iota
	skipSteps                  // something that the chain needs has failed
	refuseSteps                // the chain has been refused
)

// Settle tells the program that the steps are not taken.
func (a Assignment) Settle(err error) { a.chain.built.settle(err) }

// Sequence is the number of the registration.
func (a Assignment) Sequence() int64 { return int64(a.chain.built.Seq) }

// String names the resource for messages about a panic.
func (a Assignment) String() string {
	if len(a.steps) > 0 {
		return fmt.Sprintf("%s of %s", a.steps[0].Op, a.steps[0].URN)
	}
	return string(a.chain.built.URN)
}

func (b Built) settle(err error) {
	if b.Question != nil {
		b.Question.Settle(err)
	}
}

// Report says how an assignment ended.
type Report struct {
	Assignment
	end taskEnd
	err error // of a failure
}

type taskEnd uint8

const (
	taskDone taskEnd = iota
	taskFailed
	taskNotBegun // the run has stopped
)

// receive takes a decision: its tasks begin when what they come after is over, all of them after what the registration as a
// whole comes after. A registration that cannot be taken, because of something that failed or because it has been refused,
// is never begun, so that no delete of a replacement runs without its create.
func (e *executor) receive(b Built, x pipeline.Exchange[Assignment, Executed]) error {
	c := &chain{built: b}
	cause, blamed := e.run.blamed(b)
	switch {
	case blamed:
		e.decline(c, Assignment{kind: skipSteps, cause: cause})
	case b.refusal != nil:
		e.decline(c, Assignment{kind: refuseSteps})
	case len(b.Tasks) == 0: // there is nothing to do, and no more to come
		c.open = 1
		return e.conclude(c, x)
	default:
		e.add(c)
	}
	return e.dispatch(x)
}

func (e *executor) add(c *chain) {
	var gate []graph.ID
	for _, d := range c.built.after {
		gate = append(gate, d.task)
	}
	c.open = len(c.built.Tasks)
	for _, t := range c.built.Tasks {
		e.jobs[t.ID] = job{chain: c, steps: t.Steps}
		e.lose(e.ready.Add(t.ID, append(t.After, gate...)...))
	}
}

// decline has a chain end without its tasks.
func (e *executor) decline(c *chain, a Assignment) {
	a.chain, a.steps = c, c.built.Steps()
	c.open, c.err = 1, errDeclined
	e.urgent = append(e.urgent, a)
	for _, t := range c.built.Tasks {
		e.lose(e.ready.AddSkipped(t.ID))
	}
}

var errDeclined = errors.New("not taken")

// lose lets tasks go that will never begin. A registration that loses a task because of another one is skipped as a whole.
func (e *executor) lose(tasks []graph.ID) {
	for _, id := range tasks {
		j, known := e.jobs[id]
		if !known {
			continue // of a chain that is declined
		}
		delete(e.jobs, id)
		switch {
		case j.isBatch():
			j.open-- // replaced by the assignment
			e.skip(j.chain, Assignment{task: id, steps: j.steps})
			continue
		case j.err == nil:
			j.err = errDeclined
			e.skip(j.chain, Assignment{steps: j.built.Steps(), cause: j.built.after[0].urn})
		}
		j.open--
	}
}

func (e *executor) skip(c *chain, a Assignment) {
	a.kind, a.chain = skipSteps, c
	c.open++
	e.urgent = append(e.urgent, a)
}

// resume takes note of what has become of an assignment.
func (e *executor) resume(rep Report, x pipeline.Exchange[Assignment, Executed]) error {
	e.busy--
	c := rep.chain
	if rep.kind == takeSteps {
		delete(e.jobs, rep.task)
		switch rep.end {
		case taskDone:
			e.ready.Finish(rep.task)
		case taskFailed:
			c.err = rep.err
			e.lose(e.ready.Fail(rep.task))
		case taskNotBegun:
			e.ready.Fail(rep.task) // the run is over, and whatever waits with it
		}
	} else if rep.err != nil {
		c.err = rep.err
	}
	if err := e.conclude(c, x); err != nil {
		return err
	}
	return e.dispatch(x)
}

// conclude ends one part of a chain, and with the last one the chain.
func (e *executor) conclude(c *chain, x pipeline.Exchange[Assignment, Executed]) error {
	if c.open--; c.open > 0 {
		return nil
	}
	if c.isBatch() {
		return nil
	}
	e.run.progress.pass(c.built.Seq, over)
	return x.Emit(Executed{URN: c.built.URN, Steps: c.built.Steps(), Err: c.err})
}

// dispatch gives whoever of the crew has nothing to do something to do.
func (e *executor) dispatch(x pipeline.Exchange[Assignment, Executed]) error {
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
			x.Ask(Assignment{chain: j.chain, task: id, steps: j.steps})
			continue
		}
		delete(e.jobs, id)
		e.ready.Finish(id)
		if err := e.conclude(j.chain, x); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that nothing waits for something that was never decided on.
func (e *executor) complete() error {
	if n := e.ready.Open(); n > 0 {
		return fmt.Errorf("%d tasks wait for something that never came", n)
	}
	return nil
}

// abandon answers whoever waits for steps that will not be taken.
func (e *executor) abandon(reason error) {
	for _, j := range e.jobs {
		j.built.settle(reason)
	}
	for _, a := range e.urgent {
		a.Settle(reason)
	}
}
