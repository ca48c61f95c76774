package standard

import (
	"context"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// importer takes under management the existing objects that the program names.
type importer struct {
	rooms    *rooms.Rooms
	access   *access.Access
	plans    *plan.Plans
	executor *step.Executor
	targets  *targeting.Targets
}

// stage returns the stage that takes existing objects under management (steps.md 4.2). If a registration names the ID of an object
// and its recorded state has another one or does not exist, the object is read and recorded. The registration then continues as if
// that state had been recorded before. The stage calls providers, in previews, too; all other items pass through.
func (i *importer) stage() pipeline.Stage[stages.Located, stages.Located] {
	return pipeline.Stage[stages.Located, stages.Located]{
		Name:    "import",
		Workers: i.access.ReadWorkers(),
		Buffer:  i.access.ReadWorkers(),
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
			if !i.mustImport(l) {
				return emit(l)
			}
			imported, err := i.importOne(ctx, l)
			if err != nil {
				imported = l
				if err := i.access.Control.PassOn(&imported, err); err != nil {
					return err
				}
			}
			return emit(imported)
		},
	}
}

// mustImport reports whether a registration names an object that is not managed yet. A resource that is left out is
// imported too: it is recorded as it is found. The exception is a resource that could not be recorded because it refers
// to one that is not created.
func (i *importer) mustImport(l stages.Located) bool {
	g := l.Goal
	if g == nil || !g.Custom || g.ImportID == "" || l.Invalid != nil || l.Course.IsBypassed() || l.Course.HasFailed() {
		return false
	}
	if l.Course == stages.LeftOut && i.rooms.UncreatedOf(l.NewState(stages.Checked{})) != "" {
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

// importOne executes the steps of the import. The recorded state becomes the old state of the registration.
func (i *importer) importOne(ctx context.Context, l stages.Located) (stages.Located, error) {
	if err := i.plans.HoldImportToPlan(l); err != nil {
		return l, err
	}
	if err := i.access.EnsureProvider(ctx, l); err != nil {
		return l, err
	}
	if _, err := i.access.ProviderOf(l); err != nil {
		return l, err
	}
	if err := i.rooms.Ancestors.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
		return l, err
	}
	if err := i.mayReplace(l); err != nil {
		return l, err
	}
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
	case i.rooms.Decisions.IsDeletedByClosure(l.Claimed):
		s.Superseded = l.Old
	default:
		s.Op, s.Old, s.Superseded = stages.OpImportReplacement, l.Old, l.Old
		l.Supersedes = true
		steps = append(steps, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpReplace, URN: l.URN, Type: l.Goal.Type, Old: l.Old, New: s.New, Provider: l.Goal.Provider, Reason: s.Reason,
		}, Rank: stages.Rank{Seq: l.Seq, Place: stages.ImportPlace + 1}})
	}
	if err := i.targets.Uncreated(l, steps); err != nil {
		return l, err
	}
	i.executor.Reporter.Expect(steps...)
	if err := i.awaitDeletions(ctx, l, s.New); err != nil {
		return l, err
	}
	reply, err := i.takeImport(l, steps)
	imported := i.rooms.Outcomes.Of(s)
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

// awaitDeletions waits for the deletes of closures that concern an import: those of the recorded state that it replaces, and those of old
// copies of the object, which a closure of an earlier registration may delete: one of what they depend on.
func (i *importer) awaitDeletions(ctx context.Context, l stages.Located, imported *state.Resource) error {
	olds := i.rooms.Base.OldCopiesOf(imported)
	for _, old := range olds {
		id, _ := i.rooms.Base.ID(old)
		for _, dep := range i.rooms.Base.WithinComponents().TransitiveDependencies([]graph.ID{id}, graph.Reach{}) {
			by, claimed := i.rooms.Names.Claimant(i.rooms.Base.Resources[dep])
			if !claimed || by >= l.Seq {
				continue
			}
			if err := i.rooms.Progress.Await(ctx, by, rooms.Decided); err != nil {
				return err
			}
		}
	}
	for _, old := range append(olds, l.Claimed) {
		for _, d := range i.rooms.Decisions.DeletionsOf(old) {
			if err := i.rooms.Progress.Await(ctx, d.Root, rooms.Over); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayReplace refuses an import that would replace a protected recorded object (decision 0191). A preview goes on. If a closure has
// deleted the old object, that has been decided before.
func (i *importer) mayReplace(l stages.Located) error {
	if l.Old == nil || l.Old.External {
		return nil
	}
	if i.rooms.Decisions.IsDeletedByClosure(l.Claimed) {
		warnTooLate(i.access.Control, i.rooms, l)
		return nil
	}
	if !rooms.IsProtected(i.rooms, l, l.Old.PendingReplacement) {
		return nil
	}
	return i.access.Control.BailUnlessDry(l, &state.ProtectedError{URNs: []urn.URN{l.URN}, Refused: state.RefusedReplace})
}

// takeImport executes the steps of an import unless a dependency of the registration has failed. If the run goes on after a
// failure, it returns the reply to the registration as well.
func (i *importer) takeImport(l stages.Located, steps []*stages.Decision) (*stages.RegisterReply, error) {
	b := stages.Built{Located: l, Tasks: []stages.Task{{Steps: steps}}}
	if cause, ok := i.rooms.Failures.DependencyOf(b); ok {
		return i.executor.Skip(b, cause)
	}
	if now := i.rooms.Results.Current(l.Claimed); i.rooms.Decisions.IsDeletedByClosure(l.Claimed) && now != nil && !now.PendingReplacement {
		return i.executor.Skip(b, now.URN) // it was to be deleted, and still exists
	}
	if _, err := i.executor.ExecuteTask(steps, b); err != nil {
		return i.rooms.Failures.Reply(b), err
	}
	return nil, nil
}
