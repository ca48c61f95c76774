package standard

import (
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// decideBypassed decides about bypassed registrations.
func (b *builder) decideBypassed(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	o, mode := b.rooms.Decisions, b.rooms.Mode
	switch {
	case d.Old == nil && mode == stages.ModeRefresh:
		b.decisions.Add(d.URN, rooms.Same|rooms.SkippedCreate)
		return b.commit(d, []*stages.Decision{b.skippedCreate(d)}, x)
	case d.Old == nil, d.Course == stages.RefersToSkipped && mode == stages.ModeDestroy:
		// Its recorded state, if it has one, is deleted in the end phase, because nothing is decided about the URN.
		b.decisions.Add(d.URN, rooms.SkippedCreate)
		return b.commit(d, []*stages.Decision{b.skippedCreate(d)}, x)
	case mode == stages.ModeRefresh && d.Old.URN != d.URN && d.Course != stages.RefersToSkipped && !o.IsDeletedByClosure(d.Claimed):
		// It has not been read, but resources that are declared after it may refer to its new name.
		b.decisions.Add(d.URN, rooms.Same)
		return b.commit(d, []*stages.Decision{renamedStep(d)}, x)
	case mode == stages.ModeRefresh, o.IsDeletedByClosure(d.Claimed):
		// There is nothing more to do: it has been read, or another registration in this run deletes it. The program may still
		// register outputs of a component.
		if (d.Course == stages.RefersToSkipped || o.IsDeletedByClosure(d.Claimed)) && d.Old.URN != d.URN {
			b.decisions.Add(d.URN, rooms.SkippedCreate) // it keeps its old name, so resources that are made now may not refer to the new one
		}
		d.Reply = importedReply(d.URN, d.Old)
		return b.commit(d, nil, x)
	}
	b.decisions.Add(d.URN, rooms.Same)
	s := b.same(d)
	// The object has not changed, and neither has its recorded history.
	s.New.Inputs, s.New.External, s.New.PendingReplacement = d.Old.Inputs, d.Old.External, d.Old.PendingReplacement
	s.Reason = stages.Reason{Kind: stages.ReasonDestroy}
	return b.commit(d, append([]*stages.Decision{s}, b.sameViews(s)...), x)
}

// renamedStep carries forward a recorded state under its new name.
func renamedStep(d stages.Diffed) *stages.Decision {
	s := stages.CarriedForwardStep(d.Old)
	s.New = d.Old.Clone()
	s.New.URN, s.New.Aliases, s.New.Parent = d.URN, []urn.URN{d.Alias}, d.Subject().Parent
	s.URN, s.Kind, s.Answers = d.URN, stages.Plain, true
	return s
}

// skippedCreate makes the step of a resource that is not created because a refresh or a destroy creates nothing.
func (b *builder) skippedCreate(d stages.Diffed) *stages.Decision {
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
