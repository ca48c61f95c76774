package standard

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// newStep makes a step that answers the registration.
func newStep(d stages.Diffed, op stages.Op) *stages.Decision {
	fresh := d.NewState(d.Checked)
	return &stages.Decision{
		StepInfo: stages.StepInfo{
			Op: op, URN: d.URN, Type: d.Goal.Type, Old: d.Old, New: fresh, Keys: d.Diff.ReplaceKeys, Diffs: d.Diff.ChangedKeys,
			DetailedDiff: d.Diff.DetailedDiff, Provider: fresh.Provider, Internal: d.Internal, Reason: d.Reason,
		},
		Answers: true,
	}
}

// sameStep makes the step of a resource that stays the same.
func sameStep(d stages.Diffed) *stages.Decision {
	s := newStep(d, stages.OpSame)
	s.Keys, s.Diffs, s.DetailedDiff = nil, nil, nil
	return s
}

// showLostSettings makes the change of a default provider one that is shown and counted if a part of its recorded configuration is
// missing now: the provider's next calls may depend on it, although nobody may have changed the configuration.
func showLostSettings(s *stages.Decision, d stages.Diffed) {
	if !s.Internal {
		return
	}
	diff := property.Diff(providers.Configuration(d.Old.Inputs).Without(providers.VersionKey), providers.Configuration(d.Inputs).Without(providers.VersionKey), nil)
	if diff == nil || len(diff.Deletes) == 0 {
		return
	}
	s.Internal = false
	if len(s.Diffs) == 0 {
		s.Diffs = diff.ChangedKeys()
	}
}

// replacementSteps returns the two steps that make the new object. In a create-before-delete the marker comes after it.
func replacementSteps(d stages.Diffed, deletedFirst bool) []*stages.Decision {
	if d.Rechecked != nil {
		d.Inputs = *d.Rechecked
	}
	makes := newStep(d, stages.OpCreateReplacement)
	marker := newStep(d, stages.OpReplace)
	marker.Answers = false
	marker.New = makes.New
	if deletedFirst {
		return []*stages.Decision{marker, makes}
	}
	return []*stages.Decision{makes, marker}
}

// deleteFirstStep makes the delete of the old object of a delete-before-replace.
func deleteFirstStep(d stages.Diffed) *stages.Decision {
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpDeleteReplaced, URN: d.Old.URN, Type: d.Old.Type, Old: d.Old, Provider: d.Old.Provider, Internal: d.Internal, Reason: d.Reason,
		RetainedNow: d.Goal.IsRetained() && !d.Old.RetainOnDelete,
	}, Kind: stages.DeletedFirst}
	if d.Old.URN != d.URN {
		s.CurrentURN = d.URN
	}
	return s
}

// memberStep makes the delete of a member of a closure. A stand-in is an old copy that stands in for a name; one that is taken over has an
// object that an import has recorded anew.
func memberStep(m closure.Member, isStandIn, isTakenOver bool) *stages.Decision {
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpDelete, URN: m.Res.URN, Type: m.Res.Type, Old: m.Res, Provider: m.Res.Provider, Internal: m.Res.URN.IsDefaultProvider(), Reason: m.Why,
		RetainedNow: isTakenOver,
	}}
	switch {
	case !m.Res.Delete:
		s.Op, s.Kind = stages.OpDeleteReplaced, stages.DeletedFirst
	case isStandIn:
		s.Kind = stages.DeletedFirst // resources that stay may refer to it
	}
	return s
}

// renamedStep carries forward a recorded state under its new name.
func renamedStep(d stages.Diffed) *stages.Decision {
	s := stages.CarriedForwardStep(d.Old)
	s.New = d.Old.Clone()
	s.New.URN, s.New.Aliases, s.New.Parent = d.URN, []urn.URN{d.Alias}, d.Subject().Parent
	s.URN, s.Kind, s.Answers = d.URN, stages.Plain, true
	return s
}

// skippedCreateStep makes the step of a resource that is not created because a refresh or a destroy creates nothing.
func skippedCreateStep(d stages.Diffed) *stages.Decision {
	fresh := d.Unmade(d.Checked)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpSame, URN: d.URN, Type: fresh.Type, Old: d.Old, New: fresh, Provider: fresh.Provider, Internal: d.Internal,
		Reason: stages.Reason{Kind: stages.ReasonNotTargeted},
	}, Answers: true, Kind: stages.Uncreated}
	if d.Old != nil {
		s.New.Outputs = d.Old.Outputs
	}
	return s
}

// orderOf returns why the old object is deleted before the new one is created; "" if it is deleted afterwards.
func orderOf(d stages.Diffed) stages.Order {
	wish := d.Goal.DeleteBeforeReplace
	switch {
	case d.Old.PendingReplacement:
		return stages.OrderInterrupted
	case d.DeleteFirst:
		return stages.OrderName // two objects of that name cannot exist, whatever the program declares (steps.md 3.5)
	case wish != nil && *wish:
		return stages.OrderOption
	case wish != nil:
		return ""
	case d.Diff.DeleteBeforeReplace:
		return stages.OrderProvider
	}
	return ""
}

// importedReply returns the answer to a registration whose import is all that is done.
func importedReply(u urn.URN, s *state.Resource) *stages.RegisterReply {
	return &stages.RegisterReply{URN: u, ID: s.ID, Outputs: s.Outputs}
}

// decideImported calls decide. If that fails for a registration whose object has been imported, the program gets the object as it was found, although the
// registration goes no further (steps.md 4.2). The import counts as running until then, so that the failure does not end the answers before. A preview
// goes on with the others, and imports nothing. What is not as planned has no answer.
func decideImported(c *control.Control, a stages.Analyzed, decide func() error) (err error) {
	if a.Origin != stages.FromImport || a.Violation != nil || c.DryRun() || !c.Enter() {
		return decide()
	}
	defer func() {
		c.Leave(func() {
			if stages.IsReported(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, stages.ErrShutDown) {
				a.PendingReply.Answer(importedReply(a.URN, a.Old))
			}
		})
	}()
	return decide()
}
