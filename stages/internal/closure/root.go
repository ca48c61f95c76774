package closure

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Root is a delete-before-replace with an undecided closure: the recorded dependents that are its members (steps.md 3.11).
// Dependents are probed many at once, each as soon as its own dependencies among them have been decided.
type Root struct {
	D       stages.Diffed
	Closure *graph.Closure
	Set     map[urn.URN]bool           // URNs that will be replaced, the root's own among them
	why     map[graph.ID]stages.Reason // of the members
	After   []stages.Deletion          // of dependents that are members of other closures
	Failed  error                      // of the first probe in base order that has failed, in a preview
	failed  graph.ID                   // its dependent
}

// NewRoot returns the root of a closure: the replacement of a recorded state by a registration.
func NewRoot(d stages.Diffed, old *state.Resource) *Root {
	return &Root{D: d, Set: map[urn.URN]bool{old.URN: true, d.URN: true}, why: map[graph.ID]stages.Reason{}}
}

// IsPrecededBy reports whether a registration before the root's continues a recorded state, or has the name for which an old copy
// stands in.
func (c *Root) IsPrecededBy(r *rooms.Rooms, res *state.Resource) bool {
	by, ok := r.Names.Claimant(res)
	if res == r.Base.StandIn(res.URN) {
		by, ok = r.Names.SeenBy(res.URN)
	}
	return ok && by < c.D.Seq
}

// NeedsReplace decides about a dependent without a call of its provider, or returns the probe to call (steps.md 3.11
// "needsReplace"). byOrder is true if a dependency without a property counts, too.
func (c *Root) NeedsReplace(id graph.ID, res *state.Resource, byOrder bool) (in bool, why stages.Reason, ask *Probe) {
	if !res.Custom || res.External {
		return false, stages.Reason{}, nil
	}
	if ref, err := urn.ParseProviderRef(res.Provider); err == nil && c.Set[ref.URN] {
		return true, stages.Reason{Kind: stages.ReasonDependency, Cause: ref.URN}, nil
	}
	if res.DeletedWith != "" && c.Set[res.DeletedWith] {
		return true, stages.Reason{Kind: stages.ReasonDeletedWith, Cause: res.DeletedWith}, nil
	}
	if byOrder {
		for _, dep := range res.Dependencies {
			if c.Set[dep] && !isOfProperty(res, dep) {
				return true, stages.Reason{Kind: stages.ReasonDependency, Cause: dep}, nil
			}
		}
	}
	inputs := res.Inputs.Mutable()
	var cause urn.URN
	for name := range inputs {
		for _, dep := range res.PropertyDependencies[name] {
			if c.Set[dep] {
				inputs[name] = property.Computed()
				if cause == "" || dep < cause {
					cause = dep
				}
			}
		}
	}
	if cause == "" {
		return false, stages.Reason{}, nil
	}
	return false, stages.Reason{}, &Probe{Root: c.D.Seq, ID: id, Old: res, inputs: property.NewMap(inputs), Cause: cause}
}

// isOfProperty reports whether a dependency comes from the value of a property.
func isOfProperty(res *state.Resource, dep urn.URN) bool {
	for _, deps := range res.PropertyDependencies {
		if slices.Contains(deps, dep) {
			return true
		}
	}
	return false
}

// Fail records that a probe has failed.
func (c *Root) Fail(id graph.ID, err error) {
	if c.Failed == nil || id < c.failed {
		c.Failed, c.failed = err, id
	}
}

// Answer records whether a dependent belongs to the closure, and why.
func (c *Root) Answer(id graph.ID, res *state.Resource, in bool, why stages.Reason) {
	c.Closure.Answer(id, in)
	if in {
		c.Set[res.URN] = true
		c.why[id] = why
	}
}

// Member is a resource of a closure, with the reason why it belongs there.
type Member struct {
	ID  graph.ID // in the base
	Res *state.Resource
	Why stages.Reason
}

// Members lists the closure in base order, then the resources that are replaced together with the root: one level of replaceWith
// and deletedWith (steps.md 3.11 "cascade"). Resources that registered before the root are decided and stay. Recorded partners of a
// root that has another name now are replaced when they register.
func (c *Root) Members(r *rooms.Rooms) []Member {
	var out []Member
	if c.Closure != nil {
		for _, id := range c.Closure.Members() {
			if why, ok := c.why[id]; ok {
				out = append(out, Member{id, r.Base.Resources[id], why})
			}
		}
	}
	for _, id := range r.Base.Attached[c.D.URN] {
		res := r.Base.Resources[id]
		if res.Delete || res == c.D.Claimed || c.IsPrecededBy(r, res) {
			continue
		}
		kind := stages.ReasonReplaceWith
		if res.DeletedWith == c.D.URN {
			kind = stages.ReasonDeletedWith
		}
		out = append(out, Member{id, res, stages.Reason{Kind: kind, Cause: c.D.URN}})
	}
	return out
}
