package standard

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// superseded finds, for a delete-before-replace, the dependents that earlier registrations of this run, or earlier runs, have
// replaced. Their old objects depend on an object that is deleted first, so they are deleted before it and not only in the end
// phase (decision 0168).
type superseded struct {
	history *history
	root    *closure.Root
	members []closure.Member
	checked map[graph.ID]bool // whether the old object of a state may be deleted before the end
	deletes map[graph.ID]*stages.Decision
}

// deleteSuperseded adds the deletes of superseded old objects to those of a closure. These deletes come after their replacements,
// and after the registrations that continue dependents of the old objects.
func deleteSuperseded(h *history, c *closure.Root, members []closure.Member, deletes map[graph.ID]*stages.Decision) {
	id, recorded := h.rooms.Base.ID(c.D.Claimed)
	if !recorded || h.decided == nil || h.rooms.Targeting.IsPartial() { // left-out resources go on using the recorded objects
		return
	}
	s := &superseded{history: h, root: c, members: members, checked: map[graph.ID]bool{}, deletes: deletes}
	s.below(id)
	for _, m := range members {
		s.below(m.ID)
	}
}

// below handles the dependents of a deleted state.
func (s *superseded) below(id graph.ID) {
	for _, user := range s.history.users(id) {
		if s.goes(user) || !s.history.isReplaced(user, s.root.D.Seq) && !s.history.isOldCopy(user) {
			continue
		}
		s.after(user)
		if s.mayGo(user) {
			s.add(user)
		}
	}
}

// after makes the delete-before-replace come after the registration that continues a recorded state.
func (s *superseded) after(id graph.ID) {
	if d := s.history.decided[id]; d.hasTasks {
		res := s.history.rooms.Base.Resources[id]
		by, _ := s.history.rooms.Names.Claimant(res)
		s.root.After = append(s.root.After, stages.Deletion{Task: d.last, URN: s.history.rooms.Names.NewNameOf(res.URN), Root: by})
	}
}

// mayGo reports whether nothing uses an old object any more once the earlier registrations are over. If a later registration may
// still use it, it stays until the end.
func (s *superseded) mayGo(id graph.ID) bool {
	if may, ok := s.checked[id]; ok {
		return may
	}
	s.checked[id] = true // a valid base has no circles
	res := s.history.rooms.Base.Resources[id]
	may := s.history.isOldCopy(id) || s.history.isReplacedByImport(id) ||
		s.history.decided[id].hasTasks && !s.history.rooms.Decisions.Has(res.URN, rooms.DeletedFirst|rooms.Imported) && len(s.history.rooms.Decisions.DeletionsOf(res)) == 0
	for _, user := range s.history.users(id) {
		switch {
		case s.goes(user), s.history.isDeletedFirst(user, s.root.D.Seq):
		case s.history.isReplaced(user, s.root.D.Seq), s.history.isOldCopy(user):
			may = may && s.mayGo(user)
		default:
			may = may && s.history.isContinuedBefore(user, s.root.D.Seq)
		}
	}
	s.checked[id] = may
	return may
}

// goes reports whether a closure deletes a state.
func (s *superseded) goes(id graph.ID) bool {
	return s.history.rooms.Decisions.IsDeletedByClosure(s.history.rooms.Base.Resources[id]) || slices.ContainsFunc(s.members, func(m closure.Member) bool { return m.ID == id })
}

// add adds the deletes of an old object and of its old dependents.
func (s *superseded) add(id graph.ID) {
	if s.deletes[id] != nil {
		return
	}
	res := s.history.rooms.Base.Resources[id]
	if by := s.history.rooms.Decisions.DeletionsOf(res); len(by) > 0 { // by the closure of an earlier registration
		s.root.After = append(s.root.After, by...)
		return
	}
	d := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpDeleteReplaced, URN: res.URN, Type: res.Type, Old: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
		Reason: stages.Reason{Kind: stages.ReasonReplaced}, RetainedNow: s.retains(id) && !res.RetainOnDelete || s.history.rooms.IsTakenOver(res),
	}}
	if now := s.history.rooms.Names.NewNameOf(res.URN); !s.history.isOldCopy(id) && now != res.URN {
		d.CurrentURN = now
	}
	s.deletes[id] = d
	for _, user := range s.history.users(id) {
		switch {
		case s.history.isDeletedFirst(user, s.root.D.Seq):
			s.after(user)
		case s.history.isReplaced(user, s.root.D.Seq), s.history.isOldCopy(user):
			s.after(user)
			s.add(user)
		case s.history.isContinuedBefore(user, s.root.D.Seq):
			s.after(user)
		}
	}
}

// retains reports whether the program has declared that the object of a state is retained. For an old copy the program may declare
// that only later, which is too late (decision 0191).
func (s *superseded) retains(id graph.ID) bool {
	res := s.history.rooms.Base.Resources[id]
	if live, ok := s.history.rooms.Base.ID(s.history.rooms.Base.Olds[res.URN]); ok && res.Delete {
		id = live
	}
	return s.history.decided[id].retains
}
