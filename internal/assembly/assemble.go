package assembly

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
)

// Assemble joins the stages of one run. It is called once.
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

// replaceIn puts the caller's stages in the place of standard ones.
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

// offer returns the stage that shows the deletes of a replacement to the stages of the slot Deleting before the replacement begins. A stage that waits there
// holds nothing else up.
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

// finish runs a flow to its end. What has been deleted passes the slot Deleted.
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
