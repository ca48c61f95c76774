package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Import is the stage that takes existing objects under management (steps.md 4.2): where a registration names the ID of
// one that its recorded state is not, the object is read and recorded, and the registration goes on as if that state had
// been there before. It calls providers, in previews too; everything else passes through.
func Import(r *Run) pipeline.Stage[Located, Located] {
	return pipeline.Stage[Located, Located]{
		Name:    "import",
		Workers: readWorkers,
		Buffer:  readWorkers,
		Run: func(ctx context.Context, l Located, emit pipeline.Emit[Located]) error {
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

// mustImport tells whether a registration names an object that is not managed yet. That is so for one that is not part of
// the operation too: it is recorded as it is found. Only what could not be recorded, because it refers to what is not
// created, is left out.
func (r *Run) mustImport(l Located) bool {
	g := l.Goal
	if g == nil || !g.Custom || g.ImportID == "" || l.invalid != nil || l.passive {
		return false
	}
	if !l.Included && r.uncreatedOf(l.newState(Checked{})) != "" {
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

// importPlace is the place of an import's steps among those of its registration: before what the comparison with the
// imported object asks for.
const importPlace = -2

// importOne takes the import's steps and makes what it recorded the old state of the registration.
func (r *Run) importOne(ctx context.Context, l Located) (Located, error) {
	if err := r.holdImportToPlan(l); err != nil {
		return l, err
	}
	if err := r.ensureProvider(ctx, l); err != nil {
		return l, err
	}
	if _, err := r.providerOf(l); err != nil {
		return l, err
	}
	if err := r.awaitDecisionsAbout(ctx, l.Seq, l.claimed); err != nil {
		return l, err
	}
	r.outcomes.add(l.URN, imported)
	s := &Decision{
		StepInfo: StepInfo{
			Op: OpImport, URN: l.URN, Type: l.Goal.Type, Old: nil, New: l.newState(Checked{Inputs: l.Goal.Inputs}),
			Provider: l.Goal.Provider, Reason: Reason{Kind: ReasonImport},
		},
		Rank: Rank{Seq: l.Seq, Place: importPlace}, Settles: l.interrupted.name(),
	}
	steps := []*Decision{s}
	switch {
	case l.Old == nil:
	case r.outcomes.isGone(l.claimed):
		s.Displaced = l.Old
	default:
		s.Op, s.Old, s.Displaced = OpImportReplacement, l.Old, l.Old
		r.outcomes.add(l.URN, replaced)
		steps = append(steps, &Decision{StepInfo: StepInfo{
			Op: OpReplace, URN: l.URN, Type: l.Goal.Type, Old: l.Old, New: s.New, Provider: l.Goal.Provider, Reason: s.Reason,
		}, Rank: Rank{Seq: l.Seq, Place: importPlace + 1}})
	}
	if err := r.uncreated(l, steps); err != nil {
		return l, err
	}
	r.record.note(steps...)
	for _, d := range r.outcomes.deletionsOf(l.claimed) {
		if err := r.progress.await(ctx, d.root, over); err != nil {
			return l, err
		}
	}
	err := r.takeImport(l, steps)
	imported := r.record.outcomeOf(s)
	switch {
	case IsBail(err):
		return l, err
	case err != nil || imported.Fate != FateDone:
		l.answered = true
		return l, nil
	}
	l.Old, l.claimed, l.imported = imported.Made, nil, true
	return l, nil
}

// takeImport takes the steps of an import unless something that the registration needs has failed.
func (r *Run) takeImport(l Located, steps []*Decision) error {
	b := Built{Located: l, Tasks: []Task{{Steps: steps}}}
	if cause, ok := r.blamed(b); ok {
		return r.skipChain(Assignment{steps: steps, cause: cause}, b)
	}
	if now := r.world.current(l.claimed); r.outcomes.isGone(l.claimed) && now != nil && !now.PendingReplacement {
		return r.skipChain(Assignment{steps: steps, cause: now.URN}, b) // it was to be deleted, and is still there
	}
	_, err := r.takeTask(steps, b)
	return err
}

// applyImport records the object.
func (r *Run) applyImport(s *taking) applied {
	if s.Import != nil {
		return r.applyPlannedImport(s)
	}
	final := s.New.Clone()
	res, err := r.readForImport(s, final)
	if err != nil {
		return failed(err)
	}
	final.Inputs = res.Inputs
	now := r.Now().UTC()
	final.Created, final.Modified = now, now
	a := applied{final: final}
	if s.Displaced != nil {
		r.giveWay(s.Displaced, &a.change)
	}
	return a
}

// readForImport reads the object that a state names by its import ID, and enters what is found into the state, all but the
// inputs.
func (r *Run) readForImport(s *taking, final *state.Resource) (providers.ReadResponse, error) {
	p, err := r.providerFor(r.operations, final)
	if err != nil {
		return providers.ReadResponse{}, err
	}
	id := final.ImportID
	res, err := p.Read(r.operations, providers.ReadRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: id, Timeout: final.CustomTimeouts.Read, Status: s.publication,
	})
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		final.InitErrors = partial.Reasons
		res = providers.ReadResponse{
			ID: partial.ID, Exists: true, Inputs: partial.Inputs, HasInputs: partial.HasInputs, Properties: partial.Properties,
			RefreshBeforeUpdate: partial.RefreshBeforeUpdate,
		}
	case err != nil:
		return res, err
	}
	switch {
	case !res.Exists:
		return res, fmt.Errorf("resource '%v' does not exist", id)
	case !res.HasInputs:
		return res, fmt.Errorf("provider does not support importing resources; please try updating the '%v' plugin", s.Type.Package())
	}
	final.ID = id
	if res.ID != "" {
		final.ID = res.ID
	}
	final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	return res, nil
}

// importedReply answers a registration for which the import was all there was to do.
func importedReply(u urn.URN, s *state.Resource) *RegisterReply {
	return &RegisterReply{URN: u, ID: s.ID, Outputs: s.Outputs}
}
