package stages

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// viewBatch checks the steps of one publication and turns them into the run's.
type viewBatch struct {
	*publication
	live, replaced, gone map[viewName]*state.Resource
	steps                []*Decision
}

// viewOps are the steps that the numbers on the wire stand for.
var viewOps = map[providers.ViewOp]Op{
	providers.ViewSame: OpSame, providers.ViewCreate: OpCreate, providers.ViewUpdate: OpUpdate, providers.ViewDelete: OpDelete,
	providers.ViewReplace: OpReplace, providers.ViewCreateReplacement: OpCreateReplacement,
	providers.ViewDeleteReplaced: OpDeleteReplaced, providers.ViewRead: OpRead, providers.ViewReadReplacement: OpReadReplacement,
	providers.ViewRefresh: OpRefresh, providers.ViewDiscard: OpDiscard, providers.ViewDiscardReplaced: OpDiscardReplaced,
	providers.ViewRemovePendingReplace: OpRemovePendingReplace, providers.ViewImport: OpImport,
	providers.ViewImportReplacement: OpImportReplacement,
}

// add checks one step against the views as the steps before it leave them.
func (b *viewBatch) add(v providers.ViewStep) error {
	op, ok := viewOps[v.Op]
	if !ok {
		return fmt.Errorf("unknown step op %v", int(v.Op))
	}
	if v.Status < providers.ViewOK || v.Status > providers.ViewUnknown {
		return fmt.Errorf("unknown step status %v", int(v.Status))
	}
	s := b.owner.forView(op)
	s.Sub = len(b.publication.steps) + len(b.steps) + 1
	s.Keys, s.Diffs, s.DetailedDiff = v.Keys, v.Diffs, v.DetailedDiff
	if v.Error != "" {
		s.View.Err, s.View.Status = errors.New(v.Error), v.Status
	}
	if err := b.setStates(s, v); err != nil {
		return err
	}
	if removes(op) && b.gone[nameOfView(s.Old)] == s.Old {
		return nil // said already: the call is tried again, see Run.retrying
	}
	if err := b.run.claimView(s.URN, b.owner.URN); err != nil {
		return err
	}
	b.advance(s)
	if b.refresh {
		s.Op = OpRefresh
	}
	b.steps = append(b.steps, s)
	return nil
}

// forView makes a step for a view of the decision's resource.
func (d *Decision) forView(op Op) *Decision {
	return &Decision{
		StepInfo: StepInfo{Op: op, Internal: d.Internal, Reason: Reason{Kind: ReasonView, Cause: d.URN}}, Rank: d.Rank,
		View: &ViewOrder{Op: op, Owner: d.URN},
	}
}

// setStates finds the old state and makes the new one.
func (b *viewBatch) setStates(s *Decision, v providers.ViewStep) error {
	op := s.View.Op
	if v.Old != nil {
		if s.Old = b.find(op, v.Old); s.Old == nil {
			return fmt.Errorf("there is no view %s of type %s; old must be a view that is recorded", v.Old.Name, v.Old.Type)
		}
	}
	if v.New != nil {
		if v.New.Name == "" || v.New.Type == "" {
			return errors.New("a view needs a type and a name")
		}
		s.New = b.state(v.New)
	}
	switch {
	case removes(op):
		if s.Old == nil {
			return fmt.Errorf("%s needs the old state", op)
		}
		s.New = nil
	case s.New == nil && s.Old != nil && (op == OpSame || op == OpRefresh || op == OpReplace):
		s.New = s.Old
	case s.New == nil:
		return fmt.Errorf("%s needs the new state", op)
	}
	if s.New != nil && s.Old != nil && s.New != s.Old {
		if s.New.URN != s.Old.URN {
			s.New.Aliases = []urn.URN{s.Old.URN}
		}
		if op == OpUpdate && s.View.Status == providers.ViewPartialFailure {
			s.New.Inputs = s.Old.Inputs // so that the next run sees a difference (steps.md 9.3)
		}
	}
	of := s.New
	if of == nil {
		of = s.Old
	}
	s.URN, s.Type = of.URN, of.Type
	return nil
}

func (b *viewBatch) find(op Op, v *providers.View) *state.Resource {
	name := viewName{v.Type, v.Name}
	if op == OpDeleteReplaced || op == OpDiscardReplaced || op == OpReplace {
		if old := b.replaced[name]; old != nil {
			return old
		}
	}
	if old := b.live[name]; old != nil {
		return old
	}
	return b.gone[name]
}

// state makes the state of a view: a component below the resource (steps.md 9.9).
func (b *viewBatch) state(v *providers.View) *state.Resource {
	r := b.run
	u := urn.Subject{Stack: r.Info.Stack, Project: r.Info.Project, Type: v.Type, Name: v.Name, Parent: b.owner.URN}.URN()
	return r.markSecrets(&state.Resource{
		URN: u, Type: v.Type, Inputs: v.Inputs, Outputs: v.Outputs, Parent: b.owner.URN, ViewOf: b.owner.URN,
	})
}

// advance says what later steps find.
func (b *viewBatch) advance(s *Decision) {
	if s.View.Err != nil && s.View.Status != providers.ViewPartialFailure || s.View.Op == OpReplace {
		return
	}
	if removes(s.View.Op) {
		for _, m := range []map[viewName]*state.Resource{b.replaced, b.live} {
			if m[nameOfView(s.Old)] == s.Old {
				delete(m, nameOfView(s.Old))
			}
		}
		b.gone[nameOfView(s.Old)] = s.Old
		return
	}
	if replacing(s.View.Op) && s.Old != nil {
		b.replaced[nameOfView(s.Old)] = s.Old
	}
	b.live[nameOfView(s.New)] = s.New
}

// removes tells whether after a step of this kind its old state is gone.
func removes(op Op) bool {
	switch op {
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced, OpRemovePendingReplace:
		return true
	}
	return false
}

// replacing tells whether a step of this kind leaves its old state to be deleted later.
func replacing(op Op) bool {
	return op == OpCreateReplacement || op == OpReadReplacement || op == OpImportReplacement
}

// applyView says what a view step changes.
func (r *Run) applyView(s *taking) applied {
	v := s.View
	if v.Err != nil && v.Status != providers.ViewPartialFailure {
		return applied{err: v.Err, status: int(v.Status)}
	}
	a := applied{err: v.Err, status: int(v.Status)}
	switch {
	case v.Op == OpReplace:
		a.unrecorded = true
		return a
	case removes(v.Op):
		a.change.Remove = r.present(s.Old)
	case replacing(v.Op) && s.Old != nil:
		a.final = s.New
		r.giveWay(s.Old, &a.change)
	default:
		a.final = s.New
		if s.Old != nil {
			a.change.Remove = r.present(s.Old)
			a.change.Elide = v.Op == OpSame && !state.MustWrite(s.Old, s.New)
		}
	}
	switch {
	case s.orphaned:
		a.change, a.final = state.Change{}, nil
	case a.final != nil:
		r.replaceTwin(s.Decision, &a.change)
	}
	return a
}

// replaceTwin removes a view of the same name: a provider that makes a view without having said that there is none any
// more means that one.
func (r *Run) replaceTwin(s *Decision, c *state.Change) {
	for _, v := range r.world.viewsOf(s.View.Owner) {
		known := slices.Contains(c.Remove, v) || slices.ContainsFunc(c.Replace, func(p state.Replacement) bool { return p.Old == v })
		if v.URN == s.URN && !v.Delete && !known && v != s.New {
			c.Remove = append(c.Remove, v)
		}
	}
}

// takeViews takes the view steps that were published during a step, and returns the errors of those that failed. When
// the resource is gone its views are too, whether or not the provider has said so.
func (r *Run) takeViews(s *taking, a applied) error {
	var errs []error
	published := s.publication.close()
	for _, v := range published {
		v.orphaned = a.final == nil && !removes(s.Op) && (s.Op != OpUpdate || s.Old.URN != s.URN)
		if err := r.conclude(v, r.applyView(v)); err != nil {
			errs = append(errs, fmt.Errorf("view %s: %w", v.URN, err))
		}
	}
	if a.err != nil || len(errs) > 0 || !removes(s.Op) {
		return errors.Join(errs...)
	}
	for i, old := range r.viewsOf(s.Decision) {
		v := s.forView(OpDelete)
		v.Old, v.URN, v.Type, v.Sub = old, old.URN, old.Type, len(published)+i+1
		if _, err := r.runStep(v, nil); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sameViews are the steps for the views of a resource that stays the same (steps.md 3.12).
func (b *builder) sameViews(own *Decision) []*Decision {
	var out []*Decision
	for _, old := range b.run.viewsOf(own) {
		s := own.forView(OpSame)
		s.Old, s.New, s.Kind = old, old, Kept
		if old.ViewOf != own.URN {
			s.New, s.Kind = underNewOwner(old, own.URN), Plain
		}
		s.URN, s.Type, s.View, s.Reason = s.New.URN, s.New.Type, nil, Reason{Kind: ReasonUnchanged}
		b.run.outcomes.add(s.URN, same)
		out = append(out, s)
	}
	return out
}

// underNewOwner returns the view as it is when its resource has been renamed.
func underNewOwner(old *state.Resource, owner urn.URN) *state.Resource {
	v := old.Clone()
	v.URN, v.Aliases = old.URN.Under(owner), []urn.URN{old.URN}
	if v.Parent == v.ViewOf {
		v.Parent = owner
	}
	v.ViewOf = owner
	return v
}
