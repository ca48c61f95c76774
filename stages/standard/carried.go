package standard

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// carrier makes the steps of recorded states that stay as they are, because something that is decided refers to them or owns them.
type carrier struct {
	control   *control.Control
	rooms     *rooms.Rooms
	decisions *rooms.DecisionsWriter
	// carried are the base states that were carried forward as references of others, before a registration continued them.
	carried map[graph.ID]bool
}

// prelude puts same steps before the steps of a registration: for the recorded provider that it names and that this run has not
// registered (steps.md 3.3), and, if there are targets, for resources that it refers to and that nothing else has registered (6.5).
func (c *carrier) prelude(d stages.Diffed, steps ...*stages.Decision) []*stages.Decision {
	var before []*stages.Decision
	if d.Goal.Custom {
		before = c.provider(d, d.Goal.Provider)
	}
	if c.rooms.Targeting.Targets.IsConstrained() {
		own := steps[len(steps)-1]
		more, _ := c.references(own.New, d.Located) // an included resource may refer to missing ones
		before = append(before, more...)
	}
	return append(before, steps...)
}

// provider makes the steps that carry forward a recorded provider, and the resources that it refers to, for a resource
// that names it. It makes none if a registration continues the provider or it is carried forward already (steps.md 3.3). This
// depends on the recorded state and not on who has started the provider: another registration may have started it, or an import or
// a refresh of the same one.
func (c *carrier) provider(d stages.Diffed, ref string) []*stages.Decision {
	p := c.rooms.Base.Providers[ref]
	if p == nil || p.Delete {
		return nil
	}
	if _, claimed := c.rooms.Names.Claimant(p); claimed {
		return nil
	}
	c.decisions.Use(p, d.URN)
	if c.isGenerated(p.URN) {
		return nil
	}
	c.decisions.Add(p.URN, rooms.Same)
	steps, _ := c.references(p, d.Located) // a provider that is not registered itself may refer to missing resources
	s := stages.CarriedForwardStep(p)
	s.Kind, s.Reason = stages.Provisional, stages.Reason{Kind: stages.ReasonCarriedForward, Cause: d.URN}
	return append(steps, s)
}

// references carries forward, depth first, the resources to which a state refers and about which nothing has been decided
// (steps.md 6.5). A reference that is not in the recorded state is an error only for a state that is carried forward. If everything
// is included, the state is a provider that is kept, and its references are kept for it.
func (c *carrier) references(res *state.Resource, l stages.Located) (steps []*stages.Decision, err error) {
	var olds []graph.ID
	why := stages.Reason{Kind: stages.ReasonNotTargeted}
	whole := !c.rooms.Targeting.IsPartial()
	if whole {
		why = stages.Reason{Kind: stages.ReasonCarriedForward, Cause: res.URN}
	}
	for ref := range res.References() {
		u, old := ref.URN, c.rooms.Base.Olds[ref.URN]
		if whole && old != nil {
			c.decisions.Use(old, res.URN)
		}
		switch {
		case c.isGenerated(u):
		case old != nil:
			id, _ := c.rooms.Base.ID(old)
			olds = append(olds, id)
		case len(c.rooms.Base.All[u]) == 0 && res == l.Old && err == nil:
			err = c.control.FailRegistration(l, 0, fmt.Errorf("%s %s of untargeted resource %s has no old state", ref.Kind, u, l.URN))
		}
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(olds)
	for _, id := range slices.Compact(olds) {
		old := c.rooms.Base.Resources[id]
		if c.isGenerated(old.URN) {
			continue // carried forward meanwhile, as a reference of another resource
		}
		c.decisions.Add(old.URN, rooms.Same)
		c.carried[id] = true
		more, err := c.references(old, l)
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
func (c *carrier) isGenerated(u urn.URN) bool {
	const decided = rooms.Generated | rooms.Imported
	return c.rooms.Decisions.Has(u, decided) || c.rooms.Decisions.Has(c.rooms.Names.NewNameOf(u), decided)
}

// views returns the steps for the views of a resource that stays the same (steps.md 3.12).
func (c *carrier) views(own *stages.Decision) []*stages.Decision {
	var out []*stages.Decision
	for _, old := range c.rooms.ViewsOf(own) {
		s := own.ForView(stages.OpSame)
		s.Old, s.New, s.Kind = old, old, stages.Kept
		if old.ViewOf != own.URN {
			s.New, s.Kind = underNewOwner(old, own.URN), stages.Plain
		}
		s.URN, s.Type, s.View, s.Reason = s.New.URN, s.New.Type, nil, stages.Reason{Kind: stages.ReasonUnchanged}
		c.decisions.Add(s.URN, rooms.Same)
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
