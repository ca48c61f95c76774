package standard

import (
	"fmt"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// unmanaged decides about registrations of resources that the operation leaves as they are: those that it leaves out, and those that a
// refresh or a destroy bypasses.
type unmanaged struct {
	control   *control.Control
	rooms     *rooms.Rooms
	decisions *rooms.DecisionsWriter
	carrier   *carrier
}

// leaveOut decides about a registration that is left out.
func (u *unmanaged) leaveOut(d stages.Diffed) ([]*stages.Decision, error) {
	if d.Old == nil {
		s := sameStep(d)
		u.decisions.LeaveUncreated(s.New)
		s.Kind, s.Reason = stages.Uncreated, stages.Reason{Kind: stages.ReasonNotTargeted}
		return []*stages.Decision{s}, nil
	}
	if err := u.providerIsThere(d); err != nil {
		return nil, err
	}
	steps, err := u.carrier.references(d.Old, d.Located)
	if err != nil {
		return nil, err
	}
	own := stages.CarriedForwardStep(d.Old)
	own.Answers = true
	u.decisions.Add(d.URN, rooms.Same)
	return append(steps, own), nil
}

// providerIsThere refuses to carry forward a resource if the program no longer declares its provider (steps.md 6.5), unless an
// earlier registration continues that provider. It depends on the decisions, because it is a matter of timing whether the provider
// is already running.
func (u *unmanaged) providerIsThere(d stages.Diffed) error {
	if _, err := urn.ParseProviderRef(d.Old.Provider); err != nil {
		return nil // components and providers
	}
	if d.Goal.Provider == d.Old.Provider {
		return nil
	}
	recorded := u.rooms.Base.Providers[d.Old.Provider]
	if recorded == nil {
		return u.control.FailRegistration(d.Located, 0, fmt.Errorf("could not find provider %v in old state", d.Old.Provider))
	}
	claimant, claimed := u.rooms.Names.Claimant(recorded)
	if claimed && claimant < d.Seq && !u.rooms.Decisions.Has(u.rooms.Names.NewNameOf(recorded.URN), rooms.Replaced) {
		return nil // it is continued
	}
	return u.control.FailRegistration(d.Located, 0, fmt.Errorf("provider %s for resource %s has not been registered yet, this is due to a change of providers "+
		"mixed with --target. Change your program back to the original providers", d.Old.Provider, d.URN))
}

// bypass decides about a bypassed registration: its steps, or the reply that it gets without one.
func (u *unmanaged) bypass(d stages.Diffed) (steps []*stages.Decision, reply *stages.RegisterReply) {
	o, mode := u.rooms.Decisions, u.rooms.Mode
	switch {
	case d.Old == nil && mode == stages.ModeRefresh:
		u.decisions.Add(d.URN, rooms.Same|rooms.SkippedCreate)
		return []*stages.Decision{skippedCreateStep(d)}, nil
	case d.Old == nil, d.Course == stages.RefersToSkipped && mode == stages.ModeDestroy:
		// Its recorded state, if it has one, is deleted in the end phase, because nothing is decided about the URN.
		u.decisions.Add(d.URN, rooms.SkippedCreate)
		return []*stages.Decision{skippedCreateStep(d)}, nil
	case mode == stages.ModeRefresh && d.Old.URN != d.URN && d.Course != stages.RefersToSkipped && !o.IsDeletedByClosure(d.Claimed):
		// It has not been read, but resources that are declared after it may refer to its new name.
		u.decisions.Add(d.URN, rooms.Same)
		return []*stages.Decision{renamedStep(d)}, nil
	case mode == stages.ModeRefresh, o.IsDeletedByClosure(d.Claimed):
		// There is nothing more to do: it has been read, or another registration in this run deletes it. The program may still
		// register outputs of a component.
		if (d.Course == stages.RefersToSkipped || o.IsDeletedByClosure(d.Claimed)) && d.Old.URN != d.URN {
			u.decisions.Add(d.URN, rooms.SkippedCreate) // it keeps its old name, so resources that are made now may not refer to the new one
		}
		return nil, importedReply(d.URN, d.Old)
	}
	u.decisions.Add(d.URN, rooms.Same)
	s := sameStep(d)
	// The object has not changed, and neither has its recorded history.
	s.New.Inputs, s.New.External, s.New.PendingReplacement = d.Old.Inputs, d.Old.External, d.Old.PendingReplacement
	s.Reason = stages.Reason{Kind: stages.ReasonDestroy}
	return append([]*stages.Decision{s}, u.carrier.views(s)...), nil
}
