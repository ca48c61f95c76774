package sluice

import (
	"context"
	"errors"
	"sync"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/urn"
)

// assembly joins the standard stages of one operation with the stages in the slots of its engine.
//
// Invariant: the pipeline contains each standard stage, or the stage that replaces it, exactly once.
type assembly struct {
	engine    *Engine // the copy for the operation
	operation stages.Operation
	messages  *messages
}

// newAssembly makes the stages in the slots of an engine, for one operation. It returns an error if one of them cannot be made or used.
func newAssembly(e *Engine, name string, s stages.Settings) (*assembly, error) {
	a := &assembly{engine: e, messages: &messages{}}
	a.operation = stages.NewOperation(name, s.Mode, s.Info, a.messages.say)
	var errs []error
	e.eachSlot(func(name string, s anySlot) { errs = append(errs, s.makeStages(name, a.operation)) })
	return a, errors.Join(errs...)
}

// join joins the stages of one run. Call it once.
func (a *assembly) join(r *standard.Run) (standard.Assembly, error) {
	a.messages.goTo(r)
	own := r.Stages(a.judges())
	if err := a.replaceIn(&own, r); err != nil {
		return standard.Assembly{}, err
	}
	submitted := r.Submissions()
	for _, st := range a.engine.submitted.made {
		submitted = pipeline.Via(submitted, st)
	}
	registered := via(r, pipeline.Via(submitted, own.Register), a.engine.Registered)
	located := via(r, pipeline.Via(registered, own.Lookup), a.engine.Located)
	if r.RefreshesEach() {
		located = pipeline.Via(located, own.Refresh)
	}
	imported := pipeline.Via(located, own.Import)
	checked := via(r, pipeline.Via(imported, own.Check), a.engine.Checked)
	analyzed := via(r, pipeline.Via(checked, own.Analyze), a.engine.Analyzed)
	diffed := via(r, pipeline.Via(analyzed, own.Diff), a.engine.Diffed)
	built := via(r, pipeline.ViaActor(diffed, own.Build), a.engine.Built)
	joined := standard.Assembly{Drain: func(ctx context.Context, f pipeline.Flow[stages.Executed]) error { return a.finish(ctx, r, f) }}
	if len(a.engine.Deleting.made) > 0 {
		deletes := slot.NewGroup(a.engine.Deleting.name, a.engine.Deleting.made, reports(r))
		built, joined.Deleting = pipeline.Via(built, offer(deletes)), deletes.Pass
	}
	joined.Registrations = via(r, pipeline.ViaActor(built, own.Execute), a.engine.Executed)
	return joined, nil
}

// judges reports whether stages of the caller see inputs between Check and build.
func (a *assembly) judges() bool {
	return len(a.engine.Checked.made)+len(a.engine.Analyzed.made)+len(a.engine.Diffed.made) > 0 || a.engine.Replace.Analyze != nil || a.engine.Replace.Diff != nil
}

// replaceIn replaces standard stages by the caller's.
func (a *assembly) replaceIn(own *standard.Stages, r *standard.Run) error {
	var errs [4]error
	own.Import, errs[0] = slot.Replace("Import", a.operation, own.Import, a.engine.Replace.Import, reports(r))
	own.Check, errs[1] = slot.Replace("Check", a.operation, own.Check, a.engine.Replace.Check, reports(r))
	own.Analyze, errs[2] = slot.Replace("Analyze", a.operation, own.Analyze, a.engine.Replace.Analyze, reports(r))
	own.Diff, errs[3] = slot.Replace("Diff", a.operation, own.Diff, a.engine.Replace.Diff, reports(r))
	return errors.Join(errs[:]...)
}

// reports returns the functions that get what is found about the caller's stages.
func reports(r *standard.Run) slot.Reports {
	return slot.Reports{
		Refuse: r.Refuse, Slow: func(at urn.URN, text string) { r.Diagnose(at, stages.Info, text) }, References: r.CheckReferences,
	}
}

// via adds the stages of a slot to a flow.
func via[T slot.Item](r *standard.Run, f pipeline.Flow[T], s Slot[T]) pipeline.Flow[T] {
	for _, st := range s.made {
		f = pipeline.Via(f, slot.Guard(s.name, st, reports(r)))
	}
	return f
}

// offer returns the stage that passes the deletes of a replacement to the stages of the slot Deleting before the replacement begins. A stage that
// waits there delays nothing else.
func offer(deletes *slot.Group[stages.Deleting]) pipeline.Stage[stages.Built, stages.Built] {
	return pipeline.Stage[stages.Built, stages.Built]{
		Name: "deleting", Workers: pipeline.Unbounded,
		Run: func(ctx context.Context, b stages.Built, emit pipeline.Emit[stages.Built]) error {
			if list := b.Deletes(); len(list) > 0 {
				if err := deletes.Pass(ctx, list); err != nil {
					return err
				}
			}
			return emit(b)
		},
	}
}

// finish runs a flow to its end. Deletes pass the slot Deleted.
func (a *assembly) finish(ctx context.Context, r *standard.Run, f pipeline.Flow[stages.Executed]) error {
	if len(a.engine.Deleted.made) == 0 {
		return pipeline.Run(ctx, f, nil)
	}
	deleted := pipeline.Via(f, pipeline.Stage[stages.Executed, stages.Deleted]{
		Name: "deleted",
		Run: func(_ context.Context, x stages.Executed, emit pipeline.Emit[stages.Deleted]) error {
			for _, d := range x.Deleted {
				if err := emit(d); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return pipeline.Run(ctx, via(r, deleted, a.engine.Deleted), nil)
}

// messages receives the messages of stages. It holds those of a constructor until there is a run.
type messages struct {
	mu    sync.Mutex // guards the rest
	early []func(*standard.Run)
	run   *standard.Run
}

func (m *messages) say(at urn.URN, s stages.Severity, text string) {
	m.mu.Lock()
	r := m.run
	if r == nil {
		m.early = append(m.early, func(r *standard.Run) { r.Diagnose(at, s, text) })
	}
	m.mu.Unlock()
	if r != nil {
		r.Diagnose(at, s, text)
	}
}

func (m *messages) goTo(r *standard.Run) {
	m.mu.Lock()
	early := m.early
	m.run, m.early = r, nil
	m.mu.Unlock()
	for _, say := range early {
		say(r)
	}
}
