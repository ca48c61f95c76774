package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// importer takes under management the existing objects that the program names.
type importer struct {
	*book.Book
	*access.Access
	*plan.Plans
	*take.Taker
	*targeting.Targets
}

// stage returns the stage that takes existing objects under management (steps.md 4.2). If a registration names the ID of
// an object and its recorded state has another one or does not exist, the object is read and recorded. The registration
// then continues as if that state had been recorded before. The stage calls providers, in previews too; everything else
// passes through.
func (r *importer) stage() pipeline.Stage[stages.Located, stages.Located] {
	return pipeline.Stage[stages.Located, stages.Located]{
		Name:    "import",
		Workers: r.ReadWorkers(),
		Buffer:  r.ReadWorkers(),
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			if !r.mustImport(l) {
				return emit(l)
			}
			l, err := r.importOne(ctx, l)
			if err != nil {
				return err
			}
			return emit(l)
		},
	}
}

// mustImport reports whether a registration names an object that is not managed yet. A resource that is left out is
// imported too: it is recorded as it is found. The exception is a resource that could not be recorded because it refers
// to one that is not created.
func (r *importer) mustImport(l stages.Located) bool {
	g := l.Goal
	if g == nil || !g.Custom || g.ImportID == "" || l.Invalid != nil || l.Course.IsBypassed() {
		return false
	}
	if l.Course == stages.LeftOut && r.UncreatedOf(l.NewState(stages.Checked{})) != "" {
		return false
	}
	if l.Old == nil || l.Old.External {
		return true
	}
	known := l.Old.ImportID
	if known == "" {
		known = l.Old.ID
	}
	return known != g.ImportID
}

// importOne runs the steps of the import. The recorded state becomes the old state of the registration.
func (r *importer) importOne(ctx context.Context, l stages.Located) (stages.Located, error) {
	if err := r.HoldImportToPlan(l); err != nil {
		return l, err
	}
	if err := r.EnsureProvider(ctx, l); err != nil {
		return l, err
	}
	if _, err := r.ProviderOf(l); err != nil {
		return l, err
	}
	if err := r.Doubts.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
		return l, err
	}
	if err := r.mayReplace(l); err != nil {
		return l, err
	}
	r.Outcomes.Add(l.URN, book.Imported)
	s := &stages.Decision{
		StepInfo: stages.StepInfo{
			Op: stages.OpImport, URN: l.URN, Type: l.Goal.Type, Old: nil, New: l.NewState(stages.Checked{Inputs: l.Goal.Inputs}),
			Provider: l.Goal.Provider, Reason: stages.Reason{Kind: stages.ReasonImport},
		},
		Rank: stages.Rank{Seq: l.Seq, Place: stages.ImportPlace}, Resolves: stages.ResolvedBy(l.InterruptedCreate),
	}
	steps := []*stages.Decision{s}
	switch {
	case l.Old == nil:
	case r.Outcomes.IsDeletedByClosure(l.Claimed):
		s.Superseded = l.Old
	default:
		s.Op, s.Old, s.Superseded = stages.OpImportReplacement, l.Old, l.Old
		r.Outcomes.Add(l.URN, book.Replaced)
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpReplace, URN: l.URN, Type: l.Goal.Type, Old: l.Old, New: s.New, Provider: l.Goal.Provider, Reason: s.Reason,
		}, Rank: stages.Rank{Seq: l.Seq, Place: stages.ImportPlace + 1}})
	}
	if err := r.Uncreated(l, steps); err != nil {
		return l, err
	}
	r.Record.Note(steps...)
	for _, d := range r.Outcomes.DeletionsOf(l.Claimed) {
		if err := r.Progress.Await(ctx, d.Root, book.Over); err != nil {
			return l, err
		}
	}
	reply, err := r.takeImport(l, steps)
	imported := r.Record.OutcomeOf(s)
	switch {
	case stages.IsReported(err):
		return l, err
	case err != nil || imported.Fate != stages.FateDone:
		l.Course, l.Reply = stages.ImportFailed, reply
		return l, nil
	}
	l.Old, l.Claimed, l.Origin = imported.Made, nil, stages.FromImport
	return l, nil
}

// mayReplace refuses the import of an object in the place of a recorded one if that is protected (decision 0191). A preview goes on. If a
// closure has deleted the old object, that has been decided before.
func (r *importer) mayReplace(l stages.Located) error {
	if l.Old == nil || l.Old.External {
		return nil
	}
	if why, deleted := r.Outcomes.ReasonOf(l.Claimed); deleted {
		r.Book.NotInTime(r.Access.Control, l, why.Cause)
		return nil
	}
	if !r.IsProtected(l, l.Old.PendingReplacement) {
		return nil
	}
	return r.Access.BailUnlessDry(l, &state.ProtectedError{URNs: []urn.URN{l.URN}, Refused: state.RefusedReplace})
}

// takeImport runs the steps of an import unless something that the registration needs has failed. If the run goes on after a failure, it
// returns the reply to the registration as well.
func (r *importer) takeImport(l stages.Located, steps []*stages.Decision) (*stages.RegisterReply, error) {
	b := stages.Built{Located: l, Tasks: []stages.Task{{Steps: steps}}}
	if cause, ok := r.FailedDependencyOf(b); ok {
		return r.Skip(b, cause)
	}
	if now := r.Results.Current(l.Claimed); r.Outcomes.IsDeletedByClosure(l.Claimed) && now != nil && !now.PendingReplacement {
		return r.Skip(b, now.URN) // it was to be deleted, and still exists
	}
	if _, err := r.TakeTask(steps, b); err != nil {
		return r.FailedReply(b), err
	}
	return nil, nil
}
