package standard

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// leaveOut decides about a registration that is left out.
func (b *builder) leaveOut(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	if d.Old == nil {
		s := b.same(d)
		b.decisions.LeaveUncreated(s.New)
		s.Kind, s.Reason = stages.Uncreated, stages.Reason{Kind: stages.ReasonNotTargeted}
		return b.commit(d, []*stages.Decision{s}, x)
	}
	if err := b.providerIsThere(d); err != nil {
		return err
	}
	steps, err := b.carryReferences(d.Old, d.Located)
	if err != nil {
		return err
	}
	own := stages.CarriedForwardStep(d.Old)
	own.Answers = true
	b.decisions.Add(d.URN, rooms.Same)
	return b.commit(d, append(steps, own), x)
}

// providerIsThere refuses to carry forward a resource if the program no longer declares its provider (steps.md 6.5), unless an
// earlier registration continues that provider. It depends on the decisions, because it is a matter of timing whether the provider
// is already running.
func (b *builder) providerIsThere(d stages.Diffed) error {
	if _, err := urn.ParseProviderRef(d.Old.Provider); err != nil {
		return nil // components and providers
	}
	if d.Goal.Provider == d.Old.Provider {
		return nil
	}
	recorded := b.rooms.Base.Providers[d.Old.Provider]
	if recorded == nil {
		return b.control.FailRegistration(d.Located, 0, fmt.Errorf("could not find provider %v in old state", d.Old.Provider))
	}
	claimant, claimed := b.rooms.Names.Claimant(recorded)
	if claimed && claimant < d.Seq && !b.rooms.Decisions.Has(b.rooms.Names.NewNameOf(recorded.URN), rooms.Replaced) {
		return nil // it is continued
	}
	return b.control.FailRegistration(d.Located, 0, fmt.Errorf("provider %s for resource %s has not been registered yet, this is due to a change of providers "+
		"mixed with --target. Change your program back to the original providers", d.Old.Provider, d.URN))
}

// carryReferences carries forward, depth first, the resources to which a state refers and about which nothing has been decided
// (steps.md 6.5). A reference that is not in the recorded state is an error only for a state that is carried forward. If everything
// is included, the state is a provider that is kept, and its references are kept for it.
func (b *builder) carryReferences(res *state.Resource, l stages.Located) (steps []*stages.Decision, err error) {
	var olds []graph.ID
	why := stages.Reason{Kind: stages.ReasonNotTargeted}
	whole := !b.rooms.Targeting.IsPartial()
	if whole {
		why = stages.Reason{Kind: stages.ReasonCarriedForward, Cause: res.URN}
	}
	for ref := range res.References() {
		u, old := ref.URN, b.rooms.Base.Olds[ref.URN]
		if whole && old != nil {
			b.decisions.Use(old, res.URN)
		}
		switch {
		case b.isGenerated(u):
		case old != nil:
			id, _ := b.rooms.Base.ID(old)
			olds = append(olds, id)
		case len(b.rooms.Base.All[u]) == 0 && res == l.Old && err == nil:
			err = b.control.FailRegistration(l, 0, fmt.Errorf("%s %s of untargeted resource %s has no old state", ref.Kind, u, l.URN))
		}
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(olds)
	for _, id := range slices.Compact(olds) {
		old := b.rooms.Base.Resources[id]
		if b.isGenerated(old.URN) {
			continue // carried forward meanwhile, as a reference of another resource
		}
		b.decisions.Add(old.URN, rooms.Same)
		b.circles.carriedForward[id] = true
		more, err := b.carryReferences(old, l)
		if err != nil {
			return nil, err
		}
		carried := stages.CarriedForwardStep(old)
		carried.Kind, carried.Reason = stages.Provisional, why
		steps = append(append(steps, more...), carried)
	}
	return steps, nil
}

// isGenerated reports whether something has been decided about a URN, or about the one that replaced it.
func (b *builder) isGenerated(u urn.URN) bool {
	const decided = rooms.Created | rooms.Same | rooms.Updated | rooms.Deleted | rooms.Replaced | rooms.Read | rooms.Imported
	return b.rooms.Decisions.Has(u, decided) || b.rooms.Decisions.Has(b.rooms.Names.NewNameOf(u), decided)
}
