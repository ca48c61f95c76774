package stages

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Targeting says which resources an operation may touch (steps.md 6). The zero value selects everything.
type Targeting struct {
	// Targets are the only resources to touch; Excludes are those not to touch. At most one of the two is set.
	Targets, Excludes *urn.PatternSet
	// TargetDependents and ExcludeDependents extend them to what depends on their members.
	TargetDependents, ExcludeDependents bool
	// Replace are resources to replace whether or not they have changed.
	Replace *urn.PatternSet
}

// isPartial tells whether an operation is not about everything.
func (t Targeting) isPartial() bool { return t.Targets.IsConstrained() || t.Excludes.IsConstrained() }

// selection is how far targets and excludes have grown during a run. It belongs to the names: lookup alone writes it, in
// order of arrival, so that a dependent sees whether what it depends on is a member (ORD-5).
type selection struct {
	targets, excludes *urn.PatternSet
}

// isImplicit tells whether a resource is part of every operation and makes nothing else part of it (steps.md 6.2).
func isImplicit(t urn.Type) bool { return t.IsProvider() || t == urn.RootStackType }

// include decides whether a registration is part of the operation, and lets targets and excludes grow (steps.md 6.2, 6.3).
// The names must be locked.
func (r *book) include(l *Located) {
	l.Included = true
	if l.Goal == nil || isImplicit(l.Goal.Type) {
		return
	}
	sel, n := r.Targeting, r.names
	grows := !r.outcomes.isGone(l.claimed) && (l.Old == nil || !l.Old.External)
	switch {
	case sel.Targets.IsConstrained():
		l.Included = sel.Targets.Matches(l.URN) || sel.TargetDependents && dependsOnAny(l, n.grown.targets)
		if l.Included && grows {
			n.grown.targets.Add(l.URN)
		}
	case sel.Excludes.IsConstrained():
		l.Included = !sel.Excludes.Matches(l.URN) && !(sel.ExcludeDependents && dependsOnAny(l, n.grown.excludes))
		if !l.Included && grows {
			n.grown.excludes.Add(l.URN)
		}
	}
	if !l.Included && l.Alias != "" {
		n.kept[l.Alias] = true // the program is told the recorded name
	}
}

// dependsOnAny tells whether the registration refers to a member of the set.
func dependsOnAny(l *Located, set *urn.PatternSet) bool {
	return refersTo(l.newState(Checked{}), set, 0)
}

// unknownTargets reports the literal members of a set that name nothing (steps.md 6.6). The run goes on until its caller
// stops it.
func (r *targets) unknownTargets(set *urn.PatternSet) error {
	unknown := false
	for u := range set.Literals() {
		if len(r.base.all[u]) > 0 || r.names.isSeen(u) {
			continue
		}
		unknown = true
		code, text := codeTargetNotFound, fmt.Sprintf("Target '%v' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			code, text = codeTargetNotFoundEscape, text+" Did you forget to escape $ in your shell?"
		}
		if like := state.Near(r.base.resources, string(u)); len(like) > 0 {
			text += "\nDid you mean"
			for _, u := range like {
				text += "\n  " + shellQuote(string(u))
			}
		} else {
			text += "\n`sluice stack --show-urns` lists what there is."
		}
		r.diagnose("", Error, code, text)
	}
	if !unknown {
		return nil
	}
	r.failures.add(Failure{Err: errUnknownTargets})
	return &ReportedError{errUnknownTargets}
}

var errUnknownTargets = errors.New("one or more targets could not be found in the stack")

// CheckReplaceTargets refuses targets of a replacement that do not exist. It is called before the program starts.
func (r *targets) CheckReplaceTargets() error { return r.refuseUnknown(r.Targeting.Replace) }

// CheckTargets refuses targets and excludes that the recorded state does not have, for operations that run no program.
func (r *targets) CheckTargets() error {
	return r.refuseUnknown(r.Targeting.Targets, r.Targeting.Excludes)
}

// refuseUnknown stops the run if a set has literal members that name nothing.
func (r *targets) refuseUnknown(sets ...*urn.PatternSet) error {
	for _, set := range sets {
		if err := r.unknownTargets(set); err != nil {
			r.Halt()
			return err
		}
	}
	return nil
}

// Refreshable returns the choice of base states that a refresh reads: the targets and, with TargetDependents, what depends
// on them; or all but the excludes (steps.md 7.1).
func (r *book) Refreshable() func(*state.Resource) bool {
	sel := r.Targeting
	targets, excludes := sel.Targets.Clone(), sel.Excludes.Clone()
	return func(s *state.Resource) bool {
		switch {
		case sel.Targets.IsConstrained():
			if !targets.Matches(s.URN) && !(sel.TargetDependents && refersTo(s, targets, graph.Provider)) {
				return false
			}
			targets.Add(s.URN)
		case sel.Excludes.IsConstrained():
			if excludes.Matches(s.URN) || sel.ExcludeDependents && refersTo(s, excludes, graph.Provider) {
				excludes.Add(s.URN)
				return false
			}
		}
		return true
	}
}
