package endphase

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// retention is how much of what a base state depends on has to stay because of that state.
type retention int

const (
	// retainsNothing is the retention of a state that is gone, that goes, or that the program has registered: what it uses has new records.
	retainsNothing retention = iota
	// retainsUnchanged keeps the dependencies whose records are those of the base, and what these depend on in turn. A dependency with a new
	// record depends on what that one names.
	retainsUnchanged
	// retainsCurrent keeps the dependencies that have no new copy, and the provider, whether it has one or not.
	retainsCurrent
	// retainsAll keeps everything that the recorded state depends on (steps.md 5.3 rule 4).
	retainsAll
)

// standing is what is known about a base state when the program has ended.
type standing struct {
	isGone          bool // there is no such state any more
	isOfClosure     bool // a delete-before-replace was to delete this old copy, and has not
	hasFailed       bool // its registration or its step has failed
	isSkipped       bool // its registration was skipped, because another one has failed
	stays           bool // it stays although the program has not declared it
	isOld           bool // it is an old copy
	isView          bool
	hasOldProvider  bool // its provider has a new copy; false if it does not stay
	hasRecordOfBase bool
}

// retentionOf returns the retention that follows from a standing.
func retentionOf(s standing) retention {
	switch {
	case s.isGone:
		return retainsNothing
	case s.isOfClosure, s.hasFailed:
		return retainsAll
	case s.isSkipped:
		return retainsCurrent
	case !s.stays, s.isOld, s.isView:
		return retainsNothing
	case s.hasOldProvider: // it has not gone over to the new copy
		return retainsCurrent
	case s.hasRecordOfBase:
		return retainsUnchanged
	}
	return retainsNothing
}

// standingOf returns the standing of a state. keeps is the result of [keepsUndeclared].
func standingOf(r *rooms.Rooms, all rooms.EndGraph, id graph.ID, keeps bool) standing {
	res := all.Base.Resources[id]
	now := r.Results.Current(res)
	if now == nil {
		return standing{isGone: true}
	}
	name := r.Names.NewNameOf(res.URN)
	cause, hasFailure := r.Failures.Of(name)
	s := standing{
		isOfClosure:     isTakenByClosure(r, res, now),
		hasFailed:       hasFailure && cause == name,
		isSkipped:       hasFailure && cause != name,
		stays:           keeps || r.IsOperatedOn(res.URN) && !all.Declared[id],
		isOld:           now.Delete,
		isView:          res.ViewOf != "",
		hasRecordOfBase: now == res,
	}
	if s.stays {
		p := r.Results.Current(all.Base.Providers[now.Provider])
		s.hasOldProvider = p != nil && p.Delete
	}
	return s
}

// keepsUndeclared reports whether resources stay although the program has not declared them. After a failure the program may have
// ended without registering everything that it declares: an evaluator leaves out resources that use one that was not made, and an
// SDK those that are declared in a callback for an output that never came (decision 0165). A preview goes on after refusals, so
// that the program declares everything. A destroy deletes all resources, declared or not.
func keepsUndeclared(c *control.Control, r *rooms.Rooms) bool {
	return r.Mode == stages.ModeUpdate && (r.Failures.Any() || !c.DryRun() && c.HasFailed())
}

// isForWantOfDeclaration reports whether the end phase of an update executes a step of this kind only because the program has not
// declared the resource. Old copies are deleted because they are replaced.
func isForWantOfDeclaration(op stages.Op) bool {
	return op == stages.OpDelete || op == stages.OpDiscard || op == stages.OpRemovePendingReplace
}

// retained returns the base states that other base states retain. current returns the present state of a recorded one, nil if it is gone, and made
// that which this run has made of a recorded name, nil if there is none.
// States that the operation does not select need not be looked at: what they depend on is not selected either (see selected).
func retained(
	all rooms.EndGraph, of func(graph.ID) retention, current func(*state.Resource) *state.Resource, made func(urn.URN) *state.Resource,
) map[graph.ID]bool {
	by := map[retention][]graph.ID{}
	for i := range all.Base.Resources {
		if r := of(graph.ID(i)); r != retainsNothing {
			by[r] = append(by[r], graph.ID(i))
		}
	}
	if len(by) == 0 {
		return nil
	}
	kept := dependenciesOf(all, by[retainsAll])
	hasNoNewCopy := func(id graph.ID) bool {
		res := all.Base.Resources[id]
		now := current(res)
		isStandIn := res == all.Base.StandIn(res.URN) && made(res.URN) == nil
		return now != nil && (!now.Delete || isStandIn || res.Type.IsProvider())
	}
	for id := range dependenciesOf(all, by[retainsCurrent]) {
		if hasNoNewCopy(id) {
			kept[id] = true
		}
	}
	hasNewRecord := func(id graph.ID) bool {
		now := current(all.Base.Resources[id])
		return !hasNoNewCopy(id) || now != all.Base.Resources[id] && !now.PendingReplacement // which only awaits its replacement
	}
	for _, id := range all.Base.Graph.TransitiveDependencies(by[retainsUnchanged], graph.Reach{Skip: hasNewRecord}) {
		kept[id] = true
	}
	return kept
}

// isTakenByClosure reports whether a delete-before-replace was to delete an old copy. The end phase then leaves it alone.
func isTakenByClosure(b *rooms.Rooms, res, now *state.Resource) bool {
	return now.Delete && len(b.Decisions.DeletionsOf(res)) > 0
}

// dependenciesOf returns everything that the given states depend on, including other given states.
func dependenciesOf(all rooms.EndGraph, ids []graph.ID) map[graph.ID]bool {
	out := map[graph.ID]bool{}
	for _, id := range slices.Concat(ids, all.Base.Graph.TransitiveDependencies(ids, graph.Reach{})) {
		for _, e := range all.Base.Graph.Dependencies(id) {
			out[e.ID] = true
		}
	}
	return out
}
