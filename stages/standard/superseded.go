package standard

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// decided is the record of a decided registration that continues a recorded state, for later delete-before-replaces.
type decided struct {
	last     graph.ID // its last task
	hasTasks bool
	retains  bool // the program retains its objects
}

// noteDecided keeps the record of a decided registration.
func (b *builder) noteDecided(d stages.Diffed, tasks []stages.Task) {
	id, recorded := b.rooms.Base.ID(d.Claimed)
	if !recorded || len(tasks) == 0 || d.Goal == nil {
		return
	}
	if b.decided == nil {
		b.decided = make([]decided, len(b.rooms.Base.Resources))
	}
	b.decided[id] = decided{tasks[len(tasks)-1].ID, true, d.Goal.IsRetained()}
}

// superseded finds, for a delete-before-replace, the dependents that earlier registrations of this run, or earlier runs, have
// replaced. Their old objects depend on an object that is deleted first, so they are deleted before it and not only in the end
// phase (decision 0168).
type superseded struct {
	builder *builder
	root    *closure.Root
	members []closure.Member
	checked map[graph.ID]bool // whether the old object of a state may be deleted before the end
	deletes map[graph.ID]*stages.Decision
}

// users returns the states that are deleted before a state (steps.md 5.3): its dependents, its children, and the dependents of a
// component that contains it.
func (b *builder) users(id graph.ID) []graph.ID {
	within := b.rooms.Base.WithinComponents()
	var out, joins []graph.ID
	collect := func(of graph.ID) {
		for _, e := range within.Dependents(of) {
			switch {
			case within.IsJoin(e.ID):
				joins = append(joins, e.ID)
			case e.ID > id:
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
func (b *builder) openDependent(seq int, root graph.ID) (first int, ok bool) {
	if b.rooms.Targeting.IsPartial() || b.rooms.Progress.AreDecided(seq) { // then no decision is open that matters
		return 0, false
	}
	visited := map[graph.ID]bool{root: true}
	for todo := []graph.ID{root}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, user := range b.users(id) {
			if visited[user] {
				continue
			}
			visited[user] = true
			by, claimed := b.rooms.Names.Claimant(b.rooms.Base.Resources[user])
			switch {
			case claimed && by < seq && !b.rooms.Progress.HasPassed(by, rooms.Decided):
				return by, true
			case !claimed || by >= seq || b.isReplaced(user, seq): // its dependents may have to be deleted first, too
				todo = append(todo, user)
			}
		}
	}
	return 0, false
}

// deleteSuperseded adds the deletes of superseded old objects to those of a closure. These deletes come after their replacements,
// and after the registrations that continue dependents of the old objects.
func (b *builder) deleteSuperseded(c *closure.Root, members []closure.Member, deletes map[graph.ID]*stages.Decision) {
	id, recorded := b.rooms.Base.ID(c.D.Claimed)
	if !recorded || b.decided == nil || b.rooms.Targeting.IsPartial() { // left-out resources go on using the recorded objects
		return
	}
	s := &superseded{builder: b, root: c, members: members, checked: map[graph.ID]bool{}, deletes: deletes}
	s.below(id)
	for _, m := range members {
		s.below(m.ID)
	}
}

// below handles the dependents of a deleted state.
func (s *superseded) below(id graph.ID) {
	for _, user := range s.builder.users(id) {
		if s.goes(user) || !s.builder.isReplaced(user, s.root.D.Seq) && !s.builder.isOldCopy(user) {
			continue
		}
		s.after(user)
		if s.mayGo(user) {
			s.add(user)
		}
	}
}

// isReplaced reports whether a registration with a number below before replaces a recorded object.
func (b *builder) isReplaced(id graph.ID, before int) bool {
	res := b.rooms.Base.Resources[id]
	return !res.Delete && !res.External && !res.PendingReplacement && b.isDecided(id, before) && !b.rooms.Decisions.IsDeletedByClosure(res) &&
		b.rooms.Decisions.Has(b.rooms.Names.NewNameOf(res.URN), rooms.Replaced)
}

// isDeletedFirst reports whether a registration with a number below before deletes a recorded object and then replaces it.
func (b *builder) isDeletedFirst(id graph.ID, before int) bool {
	return b.isReplaced(id, before) && b.rooms.Decisions.Has(b.rooms.Base.Resources[id].URN, rooms.Deleted)
}

// isOldCopy reports whether a state is an old copy that an earlier run has replaced and not deleted.
func (b *builder) isOldCopy(id graph.ID) bool {
	res := b.rooms.Base.Resources[id]
	return res.Delete && !res.External && res.ViewOf == "" && res != b.rooms.Base.StandIn(res.URN)
}

// isDecided reports whether a registration with a number below before continues a recorded state.
func (b *builder) isDecided(id graph.ID, before int) bool {
	by, claimed := b.rooms.Names.Claimant(b.rooms.Base.Resources[id])
	return claimed && by < before
}

// after makes the delete-before-replace come after the registration that continues a recorded state.
func (s *superseded) after(id graph.ID) {
	if d := s.builder.decided[id]; d.hasTasks {
		res := s.builder.rooms.Base.Resources[id]
		by, _ := s.builder.rooms.Names.Claimant(res)
		s.root.After = append(s.root.After, stages.Deletion{Task: d.last, URN: s.builder.rooms.Names.NewNameOf(res.URN), Root: by})
	}
}

// mayGo reports whether nothing uses an old object any more once the earlier registrations are over. If a later registration may
// still use it, it stays until the end.
func (s *superseded) mayGo(id graph.ID) bool {
	if may, ok := s.checked[id]; ok {
		return may
	}
	s.checked[id] = true // a valid base has no circles
	res := s.builder.rooms.Base.Resources[id]
	may := s.builder.isOldCopy(id) || s.builder.decided[id].hasTasks && !s.builder.rooms.Decisions.Has(res.URN, rooms.Deleted|rooms.Imported) && len(s.builder.rooms.Decisions.DeletionsOf(res)) == 0
	for _, user := range s.builder.users(id) {
		switch {
		case s.goes(user), s.builder.isDeletedFirst(user, s.root.D.Seq):
		case s.builder.isReplaced(user, s.root.D.Seq), s.builder.isOldCopy(user):
			may = may && s.mayGo(user)
		default:
			may = may && s.builder.isDecided(user, s.root.D.Seq)
		}
	}
	s.checked[id] = may
	return may
}

// goes reports whether a closure deletes a state.
func (s *superseded) goes(id graph.ID) bool {
	return s.builder.rooms.Decisions.IsDeletedByClosure(s.builder.rooms.Base.Resources[id]) || slices.ContainsFunc(s.members, func(m closure.Member) bool { return m.ID == id })
}

// add adds the deletes of an old object and of its old dependents.
func (s *superseded) add(id graph.ID) {
	if s.deletes[id] != nil {
		return
	}
	res := s.builder.rooms.Base.Resources[id]
	d := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpDeleteReplaced, URN: res.URN, Type: res.Type, Old: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
		Reason: stages.Reason{Kind: stages.ReasonReplaced}, RetainedNow: s.retains(id) && !res.RetainOnDelete,
	}}
	if now := s.builder.rooms.Names.NewNameOf(res.URN); !s.builder.isOldCopy(id) && now != res.URN {
		d.CurrentURN = now
	}
	s.deletes[id] = d
	for _, user := range s.builder.users(id) {
		switch {
		case s.builder.isDeletedFirst(user, s.root.D.Seq):
			s.after(user)
		case s.builder.isReplaced(user, s.root.D.Seq), s.builder.isOldCopy(user):
			s.after(user)
			s.add(user)
		case s.builder.isDecided(user, s.root.D.Seq):
			s.after(user)
		}
	}
}

// retains reports whether the program has declared that the object of a state is retained. For an old copy the program may declare
// that only later, which is too late (decision 0191).
func (s *superseded) retains(id graph.ID) bool {
	res := s.builder.rooms.Base.Resources[id]
	if live, ok := s.builder.rooms.Base.ID(s.builder.rooms.Base.Olds[res.URN]); ok && res.Delete {
		id = live
	}
	return s.builder.decided[id].retains
}
