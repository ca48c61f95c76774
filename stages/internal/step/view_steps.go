package step

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// viewBatch checks the steps of one publication and turns them into the run's.
type viewBatch struct {
	of                   *publication // what it is added to
	live, replaced, gone map[ViewName]*state.Resource
	steps                []*stages.Decision
}

// viewOps maps the numbers on the wire to kinds of steps.
var viewOps = map[providers.ViewOp]stages.Op{
	providers.ViewSame: stages.OpSame, providers.ViewCreate: stages.OpCreate, providers.ViewUpdate: stages.OpUpdate, providers.ViewDelete: stages.OpDelete,
	providers.ViewReplace: stages.OpReplace, providers.ViewCreateReplacement: stages.OpCreateReplacement,
	providers.ViewDeleteReplaced: stages.OpDeleteReplaced, providers.ViewRead: stages.OpRead, providers.ViewReadReplacement: stages.OpReadReplacement,
	providers.ViewRefresh: stages.OpRefresh, providers.ViewDiscard: stages.OpDiscard, providers.ViewDiscardReplaced: stages.OpDiscardReplaced,
	providers.ViewRemovePendingReplace: stages.OpRemovePendingReplace, providers.ViewImport: stages.OpImport,
	providers.ViewImportReplacement: stages.OpImportReplacement,
}

// add checks one step against the views after the steps before it.
func (b *viewBatch) add(v providers.ViewStep) error {
	op, ok := viewOps[v.Op]
	if !ok {
		return fmt.Errorf("unknown step op %v", int(v.Op))
	}
	if v.Status < providers.ViewOK || v.Status > providers.ViewUnknown {
		return fmt.Errorf("unknown step status %v", int(v.Status))
	}
	s := b.of.owner.ForView(op)
	s.Sub = len(b.of.steps) + len(b.steps) + 1
	s.Keys, s.Diffs, s.DetailedDiff = v.Keys, v.Diffs, v.DetailedDiff
	if v.Error != "" {
		s.View.Err, s.View.Status = errors.New(v.Error), v.Status
	}
	if err := b.setStates(s, v); err != nil {
		return err
	}
	if stages.Removes(op) && b.gone[NameOfView(s.Old)] == s.Old {
		return nil // published already: the call is tried again, see caller.retrying
	}
	if err := b.of.views.reporter.claim(s.URN, b.of.owner.URN); err != nil {
		return err
	}
	b.advance(s)
	if b.of.refresh {
		s.Op = stages.OpRefresh
	}
	b.steps = append(b.steps, s)
	return nil
}

// setStates finds the old state and makes the new one.
func (b *viewBatch) setStates(s *stages.Decision, v providers.ViewStep) error {
	op := s.View.Op
	if v.Old != nil {
		if s.Old = b.find(op, v.Old); s.Old == nil {
			return fmt.Errorf("there is no view %s of type %s; old must be a view that is recorded", v.Old.Name, v.Old.Type)
		}
	}
	if v.New != nil {
		if !utf8.ValidString(v.New.Name) || !utf8.ValidString(string(v.New.Type)) {
			return fmt.Errorf("the view %q of type %q has a name or a type that is not UTF-8, which a state cannot hold", v.New.Name, v.New.Type)
		}
		if v.New.Name == "" || v.New.Type == "" {
			return errors.New("a view needs a type and a name")
		}
		s.New = b.state(v.New)
	}
	switch {
	case stages.Removes(op):
		if s.Old == nil {
			return fmt.Errorf("%s needs the old state", op)
		}
		s.New = nil
	case s.New == nil && s.Old != nil && (op == stages.OpSame || op == stages.OpRefresh || op == stages.OpReplace):
		s.New = s.Old.Clone() // a record of its own, which replaces the old one
	case s.New == nil:
		return fmt.Errorf("%s needs the new state", op)
	}
	if s.New != nil && s.Old != nil && s.New != s.Old {
		if s.New.URN != s.Old.URN {
			s.New.Aliases = []urn.URN{s.Old.URN}
		}
		if op == stages.OpUpdate && s.View.Status == providers.ViewPartialFailure {
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

func (b *viewBatch) find(op stages.Op, v *providers.View) *state.Resource {
	name := ViewName{v.Type, v.Name}
	if op == stages.OpDeleteReplaced || op == stages.OpDiscardReplaced || op == stages.OpReplace {
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
	c := b.of.views.control
	u := urn.Subject{Stack: c.Info.Stack, Project: c.Info.Project, Type: v.Type, Name: v.Name, Parent: b.of.owner.URN}.URN()
	return MarkSecrets(c, &state.Resource{
		URN: u, Type: v.Type, Inputs: v.Inputs, Outputs: v.Outputs, Parent: b.of.owner.URN, ViewOf: b.of.owner.URN,
	})
}

// advance updates the views for later steps.
func (b *viewBatch) advance(s *stages.Decision) {
	if s.View.Err != nil && s.View.Status != providers.ViewPartialFailure || s.View.Op == stages.OpReplace {
		return
	}
	if stages.Removes(s.View.Op) {
		for _, m := range []map[ViewName]*state.Resource{b.replaced, b.live} {
			if m[NameOfView(s.Old)] == s.Old {
				delete(m, NameOfView(s.Old))
			}
		}
		b.gone[NameOfView(s.Old)] = s.Old
		return
	}
	if stages.Replacing(s.View.Op) && s.Old != nil {
		b.replaced[NameOfView(s.Old)] = s.Old
	}
	b.live[NameOfView(s.New)] = s.New
}
