package standard

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// sameViews returns the steps for the views of a resource that stays the same (steps.md 3.12).
func (b *builder) sameViews(own *stages.Decision) []*stages.Decision {
	var out []*stages.Decision
	for _, old := range b.rooms.ViewsOf(own) {
		s := own.ForView(stages.OpSame)
		s.Old, s.New, s.Kind = old, old, stages.Kept
		if old.ViewOf != own.URN {
			s.New, s.Kind = underNewOwner(old, own.URN), stages.Plain
		}
		s.URN, s.Type, s.View, s.Reason = s.New.URN, s.New.Type, nil, stages.Reason{Kind: stages.ReasonUnchanged}
		b.decisions.Add(s.URN, rooms.Same)
		out = append(out, s)
	}
	return out
}

// underNewOwner returns the view of a renamed resource.
func underNewOwner(old *state.Resource, owner urn.URN) *state.Resource {
	v := old.Clone()
	v.URN, v.Aliases = old.URN.Under(owner), []urn.URN{old.URN}
	if v.Parent == v.ViewOf {
		v.Parent = owner
	}
	v.ViewOf = owner
	return v
}
