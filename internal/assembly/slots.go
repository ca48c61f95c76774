package assembly

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
)

// Slots has the constructors of stages, by slot of an engine.
type Slots struct {
	Submitted  []slot.Maker[stages.Submitted] // before register
	Registered []slot.Maker[stages.Registered]
	Located    []slot.Maker[stages.Located]
	Checked    []slot.Maker[stages.Checked]
	Analyzed   []slot.Maker[stages.Analyzed]
	Diffed     []slot.Maker[stages.Diffed]
	Built      []slot.Maker[stages.Built]
	Executed   []slot.Maker[stages.Executed]
	Deleting   []slot.Maker[stages.Deleting]
	Deleted    []slot.Maker[stages.Deleted]
}

// Replacers make stages that replace standard ones; nil leaves the standard stage.
type Replacers struct {
	Import  slot.Replacer[stages.Located, stages.Located]
	Check   slot.Replacer[stages.Located, stages.Checked]
	Analyze slot.Replacer[stages.Checked, stages.Analyzed]
	Diff    slot.Replacer[stages.Analyzed, stages.Diffed]
}

// Stages are the caller's stages of one operation.
type Stages struct {
	operation stages.Operation
	messages  *messages
	replacers Replacers

	submitted  []pipeline.Stage[stages.Submitted, stages.Submitted]
	registered []pipeline.Stage[stages.Registered, stages.Registered]
	located    []pipeline.Stage[stages.Located, stages.Located]
	checked    []pipeline.Stage[stages.Checked, stages.Checked]
	analyzed   []pipeline.Stage[stages.Analyzed, stages.Analyzed]
	diffed     []pipeline.Stage[stages.Diffed, stages.Diffed]
	built      []pipeline.Stage[stages.Built, stages.Built]
	executed   []pipeline.Stage[stages.Executed, stages.Executed]
	deleting   []pipeline.Stage[stages.Deleting, stages.Deleting]
	deleted    []pipeline.Stage[stages.Deleted, stages.Deleted]
}

// Assemble joins the stages of one run. Call it once.
func (s *Stages) Assemble(r *standard.Run) (standard.Assembly, error) {
	s.messages.goTo(r)
	own := r.Stages()
	if err := s.replaceIn(&own, r); err != nil {
		return standard.Assembly{}, err
	}
	submitted := r.Submissions()
	for _, st := range s.submitted {
		submitted = pipeline.Via(submitted, st)
	}
	registered := via(r, pipeline.Via(submitted, own.Register), "Registered", s.registered)
	located := via(r, pipeline.Via(registered, own.Lookup), "Located", s.located)
	if r.RefreshesEach() {
		located = pipeline.Via(located, own.Refresh)
	}
	imported := pipeline.Via(located, own.Import)
	checked := via(r, pipeline.Via(imported, own.Check), "Checked", s.checked)
	analyzed := via(r, pipeline.Via(checked, own.Analyze), "Analyzed", s.analyzed)
	diffed := via(r, pipeline.Via(analyzed, own.Diff), "Diffed", s.diffed)
	built := via(r, pipeline.ViaActor(diffed, own.Build), "Built", s.built)
	a := standard.Assembly{Drain: func(ctx context.Context, f pipeline.Flow[stages.Executed]) error { return s.finish(ctx, r, f) }}
	if len(s.deleting) > 0 {
		deletes := &slot.Group[stages.Deleting]{Slot: "Deleting", Stages: s.deleting, Refuse: r.Refuse}
		built, a.Deleting = pipeline.Via(built, offer(deletes)), deletes.Pass
	}
	a.Registrations = via(r, pipeline.ViaActor(built, own.Execute), "Executed", s.executed)
	return a, nil
}

// replaceIn replaces standard stages by the caller's.
func (s *Stages) replaceIn(own *standard.Stages, r *standard.Run) error {
	var errs [4]error
	own.Import, errs[0] = slot.Replace("Import", s.operation, own.Import, s.replacers.Import, r.Refuse)
	own.Check, errs[1] = slot.Replace("Check", s.operation, own.Check, s.replacers.Check, r.Refuse)
	own.Analyze, errs[2] = slot.Replace("Analyze", s.operation, own.Analyze, s.replacers.Analyze, r.Refuse)
	own.Diff, errs[3] = slot.Replace("Diff", s.operation, own.Diff, s.replacers.Diff, r.Refuse)
	return errors.Join(errs[:]...)
}

// via adds the stages of a slot to a flow.
func via[T slot.Item](r *standard.Run, f pipeline.Flow[T], name string, inserted []pipeline.Stage[T, T]) pipeline.Flow[T] {
	for _, st := range inserted {
		f = pipeline.Via(f, slot.Guard(name, st, r.Refuse))
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
func (s *Stages) finish(ctx context.Context, r *standard.Run, f pipeline.Flow[stages.Executed]) error {
	if len(s.deleted) == 0 {
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
	return pipeline.Run(ctx, via(r, deleted, "Deleted", s.deleted), nil)
}

// Make makes the stages for the operation with this name. It returns an error if one of them cannot be made or used.
func (s Slots) Make(name string, replacers Replacers, settings stages.Settings) (*Stages, error) {
	out := &Stages{messages: &messages{}, replacers: replacers}
	out.operation = stages.NewOperation(name, settings.Mode, settings.Info, out.messages.say)
	var errs [10]error
	out.submitted, errs[0] = slot.Make("submitted", out.operation, s.Submitted)
	out.registered, errs[1] = slot.Make("Registered", out.operation, s.Registered)
	out.located, errs[2] = slot.Make("Located", out.operation, s.Located)
	out.checked, errs[3] = slot.Make("Checked", out.operation, s.Checked)
	out.analyzed, errs[4] = slot.Make("Analyzed", out.operation, s.Analyzed)
	out.diffed, errs[5] = slot.Make("Diffed", out.operation, s.Diffed)
	out.built, errs[6] = slot.Make("Built", out.operation, s.Built)
	out.executed, errs[7] = slot.Make("Executed", out.operation, s.Executed)
	out.deleting, errs[8] = slot.Make("Deleting", out.operation, s.Deleting)
	out.deleted, errs[9] = slot.Make("Deleted", out.operation, s.Deleted)
	return out, errors.Join(errs[:]...)
}
