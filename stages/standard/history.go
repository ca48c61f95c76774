package standard

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// decided is the record of a decided registration that continues a recorded state, for later delete-before-replaces.
type decided struct {
	last     graph.ID // its last task
	hasTasks bool
	retains  bool // the program retains its objects
}

// history has what the registrations that are decided so far mean for a later delete-before-replace.
type history struct {
	rooms   *rooms.Rooms
	decided []decided // by base position; nil until a registration continues a recorded state
}

// note keeps the record of a decided registration.
func (h *history) note(d stages.Diffed, tasks []stages.Task) {
	id, recorded := h.rooms.Base.ID(h.continued(d))
	if !recorded {
		return
	}
	if h.decided == nil {
		h.decided = make([]decided, len(h.rooms.Base.Resources))
	}
	is := decided{retains: d.Goal != nil && d.Goal.IsRetained()} // a read says nothing about the object before it
	if len(tasks) > 0 {
		is.last, is.hasTasks = tasks[len(tasks)-1].ID, true
	}
	h.decided[id] = is
}

// continued returns the recorded state that a registration continues, or has replaced by an import; nil if there is none.
func (h *history) continued(d stages.Diffed) *state.Resource {
	if d.Claimed != nil || d.Origin != stages.FromImport {
		return d.Claimed
	}
	for _, u := range []urn.URN{d.URN, d.Alias} {
		old := h.rooms.Base.Olds[u]
		if by, claimed := h.rooms.Names.Claimant(old); claimed && by == d.Seq {
			return old
		}
	}
	return nil
}

// users returns the states that are deleted before a state (steps.md 5.3): its dependents, its children, and the dependents of a
// component that contains it. Views are not among them: they go with their resource.
func (h *history) users(id graph.ID) []graph.ID {
	within := h.rooms.Base.WithinComponents()
	var out, joins []graph.ID
	collect := func(of graph.ID) {
		for _, e := range within.Dependents(of) {
			switch {
			case within.IsJoin(e.ID):
				joins = append(joins, e.ID)
			case e.ID > id && h.rooms.Base.Resources[e.ID].ViewOf == "":
				out = append(out, e.ID)
			}
		}
	}
	collect(id)
	for len(joins) > 0 {
		last := joins[len(joins)-1]
		joins = joins[:len(joins)-1]
		collect(last)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// openDependent returns an earlier undecided registration that continues a dependent of a state that is deleted first. The decision
// about that dependent must be known.
func (h *history) openDependent(seq int, root graph.ID) (first int, ok bool) {
	if h.rooms.Targeting.IsPartial() || h.rooms.Progress.AreDecided(seq) { // then no decision is open that matters
		return 0, false
	}
	visited := map[graph.ID]bool{root: true}
	for todo := []graph.ID{root}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, user := range h.users(id) {
			if visited[user] {
				continue
			}
			visited[user] = true
			by, claimed := h.rooms.Names.Claimant(h.rooms.Base.Resources[user])
			switch {
			case claimed && by < seq && !h.rooms.Progress.HasPassed(by, rooms.Decided):
				return by, true
			case !claimed || by >= seq || h.isReplaced(user, seq): // its dependents may have to be deleted first, too
				todo = append(todo, user)
			}
		}
	}
	return 0, false
}

// isReplaced reports whether a registration with a number below before replaces a recorded object.
func (h *history) isReplaced(id graph.ID, before int) bool {
	res := h.rooms.Base.Resources[id]
	return !res.Delete && !res.External && !res.PendingReplacement && h.isContinuedBefore(id, before) && !h.rooms.Decisions.IsDeletedByClosure(res) &&
		h.rooms.Decisions.Has(h.rooms.Names.NewNameOf(res.URN), rooms.Replaced)
}

// isDeletedFirst reports whether a registration with a number below before deletes a recorded object and then replaces it.
func (h *history) isDeletedFirst(id graph.ID, before int) bool {
	return h.isReplaced(id, before) && h.rooms.Decisions.Has(h.rooms.Base.Resources[id].URN, rooms.DeletedFirst)
}

// isReplacedByImport reports whether an import has taken the place of a recorded object. The import is over: it comes before the decision
// about its registration.
func (h *history) isReplacedByImport(id graph.ID) bool {
	res := h.rooms.Base.Resources[id]
	now := h.rooms.Results.Current(res)
	return !res.Delete && now != nil && now.Delete && h.rooms.Decisions.Has(h.rooms.Names.NewNameOf(res.URN), rooms.Imported)
}

// isOldCopy reports whether a state is an old copy that an earlier run has replaced and not deleted.
func (h *history) isOldCopy(id graph.ID) bool {
	res := h.rooms.Base.Resources[id]
	return res.Delete && !res.External && res != h.rooms.Base.StandIn(res.URN)
}

// isContinuedBefore reports whether a registration with a number below before continues a recorded state.
func (h *history) isContinuedBefore(id graph.ID, before int) bool {
	by, claimed := h.rooms.Names.Claimant(h.rooms.Base.Resources[id])
	return claimed && by < before
}
