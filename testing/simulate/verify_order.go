package simulate

import (
	"slices"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// verifyOrder checks the order of the deletes that an update makes while its program runs: an object that is deleted before it is replaced, and
// the members of its closure, are deleted after the old objects of their dependents that are deleted in the same run. If one of those could not
// be deleted, they stay.
//
// There are two excuses (decision 0190). The program had not declared the dependent yet, so that the fate of its object was unknown; or a
// resource that uses the old object of the dependent had not been declared yet.
func (a verification) verifyOrder() {
	if a.op.Do != Update || a.program == nil || len(a.op.Targets)+len(a.op.Excludes) > 0 {
		return
	}
	o := a.newOrder()
	for i, c := range o.deletes {
		if c == nil || c.late || a.isStandIn(i) {
			continue
		}
		for d := range o.users[i] {
			own := o.deletes[d]
			switch {
			case own == nil || a.isStandIn(d) || own.err == nil && own.end < c.begun:
			case o.mayComeLater(d, o.decidedAt(i)):
			case own.err != nil:
				a.fault("%s is deleted first although the delete of %s, which depends on it, has failed", c.id, own.id)
			default:
				a.fault("%s is deleted first, before %s, which depends on it", c.id, own.id)
			}
		}
	}
}

// isStandIn reports whether a state of the beginning is an old copy that has taken the place of its resource.
func (a verification) isStandIn(i int) bool {
	all := a.before.resources()
	if !all[i].Delete {
		return false
	}
	for _, r := range all {
		if r.URN == all[i].URN && !r.Delete {
			return false
		}
	}
	return true
}

// order has the dependencies between the states of the beginning, by position, and the fates of their objects.
//
// Views are no users: they go with their resource.
type order struct {
	verification
	users   []map[int]bool
	deletes []*call
	steps   []stages.StepInfo // those that have begun, in order
}

func (a verification) newOrder() *order {
	all := a.before.resources()
	o := &order{verification: a, users: make([]map[int]bool, len(all)), deletes: make([]*call, len(all))}
	at := map[urn.URN][]int{}
	for i, r := range all {
		o.users[i] = map[int]bool{}
		if r.ViewOf != "" {
			continue
		}
		for ref := range r.References() {
			for _, dep := range at[ref.URN] {
				o.users[dep][i] = true
				if !all[dep].Custom && ref.URN != r.Parent { // siblings do not depend on one another
					for _, child := range o.below(dep, i) {
						o.users[child][i] = true
					}
				}
			}
		}
		at[r.URN] = append(at[r.URN], i)
		for _, c := range a.calls {
			if c.method == providers.MethodDelete && c.urn == r.URN && c.id == r.ID {
				o.deletes[i] = c
			}
		}
	}
	for _, e := range a.events {
		if s, ok := e.(stages.StepStarted); ok {
			o.steps = append(o.steps, s.Step)
		}
	}
	return o
}

// below returns the states before a position that are in a component.
func (o *order) below(component, before int) []int {
	all := o.before.resources()
	in := map[urn.URN]bool{all[component].URN: true}
	var out []int
	for i, r := range all[:before] {
		if in[r.Parent] {
			in[r.URN] = true
			out = append(out, i)
		}
	}
	return out
}

// decidedAt returns when the registration was sent because of which an object is deleted first.
func (o *order) decidedAt(i int) int {
	r := o.before.resources()[i]
	for range o.steps { // follow the causes to the root
		cause := urn.URN("")
		for _, s := range o.steps {
			if s.Old == nil || s.Old.URN != r.URN || s.Old.ID != r.ID || !stages.Removes(s.Op) {
				continue
			}
			switch s.Reason.Kind {
			case stages.ReasonDependency, stages.ReasonDeletedWith, stages.ReasonReplaceWith:
				cause = s.Reason.Cause
			}
		}
		next := o.recorded(cause)
		if next == nil {
			break
		}
		r = next
	}
	return o.program.moment(o.nameNow(r)).sent
}

// recorded returns the state of the beginning that a resource continues, under its old or its new name.
func (o *order) recorded(u urn.URN) *state.Resource {
	for _, r := range o.before.resources() {
		if u != "" && !r.Delete && (r.URN == u || o.nameNow(r) == u) {
			return r
		}
	}
	return nil
}

// nameNow returns the name under which the program declares a recorded resource.
func (o *order) nameNow(r *state.Resource) urn.URN {
	for _, s := range o.steps {
		if s.Old != nil && s.Old.ID == r.ID && s.Old.URN == r.URN && s.New != nil && !s.Old.Delete {
			return s.URN
		}
	}
	return r.URN
}

// isSettled reports whether the program had the reply about a recorded resource at some time.
func (o *order) isSettled(i, at int) bool {
	m := o.program.moment(o.nameNow(o.before.resources()[i]))
	return m.answered > 0 && m.answered < at
}

// mayComeLater reports whether the old object of a dependent may be deleted at the end of a run, although its dependency is deleted first.
func (o *order) mayComeLater(i, at int) bool {
	return !o.before.resources()[i].Delete && !o.isSettled(i, at) || o.isInUse(i, at)
}

// isRemoved reports whether a state of the beginning is an old copy, or one that the run removes. The delete of a provider is no call.
func (o *order) isRemoved(i int) bool {
	r := o.before.resources()[i]
	return r.Delete || o.deletes[i] != nil || slices.ContainsFunc(o.steps, func(s stages.StepInfo) bool {
		return s.Old != nil && s.Old.URN == r.URN && s.Old.ID == r.ID && stages.Removes(s.Op)
	})
}

// isInUse reports whether an object, or an old object that uses it, is used by a resource without a reply at some time.
func (o *order) isInUse(i, at int) bool {
	for u := range o.users[i] {
		switch {
		case o.isRemoved(u):
			if o.mayComeLater(u, at) {
				return true
			}
		case !o.isSettled(u, at):
			return true
		}
	}
	return false
}
