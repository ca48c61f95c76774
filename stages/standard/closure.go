package standard

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/possible"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// rootOrPark returns the root of a delete-before-replace. If an earlier registration may claim a candidate of its closure, or
// continues a dependent, that registration is decided first: the replacement is parked, and there is no root.
func (b *builder) rootOrPark(d stages.Diffed) *closure.Root {
	c := closure.NewRoot(d, d.Old)
	if id, ok := b.rooms.Base.ID(d.Claimed); ok {
		c.Closure = graph.NewClosure(b.rooms.Base.Graph, id, rooms.ClosureKinds, b.impossible(c))
		visited := map[graph.ID]bool{id: true}
		for _, candidate := range c.Closure.Candidates() {
			if first, open := b.rooms.Ancestors.NearestOpen(d.Seq, candidate, visited); open {
				b.parked[first] = append(b.parked[first], d)
				return nil
			}
		}
		if first, open := b.openDependent(d.Seq, id); open {
			b.parked[first] = append(b.parked[first], d)
			return nil
		}
	}
	return c
}

// impossible returns a function that reports whether a recorded state can no longer be a member of a root's closure: an earlier
// registration continues it, or it is deleted already (steps.md 3.11).
//
// The deletes of the latter must be over before that of the root. In a preview they stay candidates, so that the first of the roots
// that delete them is named, and not the one whose registration happened to arrive first.
func (b *builder) impossible(c *closure.Root) func(graph.ID) bool {
	return func(id graph.ID) bool {
		res := b.rooms.Base.Resources[id]
		if b.rooms.Decisions.IsDeletedByClosure(res) {
			c.After = append(c.After, b.rooms.Decisions.DeletionsOf(res)...)
			if !b.control.DryRun() {
				return true
			}
		}
		preceded := c.IsPrecededBy(b.rooms, res)
		if preceded {
			c.After = append(c.After, b.rooms.Decisions.DeletionsOf(res)...) // of the old object
		}
		return preceded
	}
}

// advance decides every dependent that can be decided and probes the rest.
func (b *builder) advance(c *closure.Root, x pipeline.Exchange[Ask, stages.Built]) error {
	for c.Closure != nil && !c.Closure.Done() {
		ready := c.Closure.Ready()
		if len(ready) == 0 {
			return nil // answers are missing
		}
		for _, id := range ready {
			in, why, p := c.NeedsReplace(id, b.rooms.Base.Resources[id])
			if p == nil {
				c.Answer(id, b.rooms.Base.Resources[id], in, why)
				continue
			}
			c.Pending[id] = p
			x.Ask(Ask{probe: p})
		}
	}
	return b.finishClosure(c, x)
}

// probed processes the answer to a probe.
func (b *builder) probed(c *closure.Root, a Answer, x pipeline.Exchange[Ask, stages.Built]) error {
	if a.err != nil {
		err := fmt.Errorf("finding out whether %s must be replaced with it: %w", a.probe.Old.URN, a.err)
		if !b.control.DryRun() {
			return b.control.Bail(c.D.Located, stages.CodeFailed, err)
		}
		c.Fail(a.probe.ID, err) // other answers may be missing
	}
	why := stages.Reason{Kind: stages.ReasonDependency, Cause: a.probe.Cause, Properties: compare.ReplacingProperties(a.diff)}
	c.Answer(a.probe.ID, a.probe.Old, a.diff.Replaces(), why)
	return b.advance(c, x)
}

// finishClosure decides a closure when all its members are known (steps.md 3.9). First come the deletes of the members, each of
// which waits for those of its dependents. When all of them are over, the root's delete, the marker and the new object follow.
// Marking and emitting are one action (ORD-3, ORD-4).
func (b *builder) finishClosure(c *closure.Root, x pipeline.Exchange[Ask, stages.Built]) error {
	delete(b.roots, c.D.Seq)
	d := c.D
	if c.Failed != nil {
		return b.control.FailRegistration(d.Located, stages.CodeFailed, c.Failed)
	}
	members := c.Members(b.rooms)
	if err := b.mayDelete(d, members); err != nil {
		return err
	}
	b.plans.MarkClosureUncertain(d, members)
	possible.NoteClosure(d, members)
	deletes := map[graph.ID]*stages.Decision{}
	shared := map[graph.ID]bool{} // members that an earlier closure deletes
	for _, m := range slices.Backward(members) {
		deleted := b.rooms.Decisions.IsDeletedByClosure(m.Res)
		b.decisions.DeleteByClosure(m.ID, rooms.ClosureDelete{Root: d.Precedence(), Why: m.Why})
		if deleted {
			if _, own := deletes[m.ID]; !own {
				c.After = append(c.After, b.rooms.Decisions.DeletionsOf(m.Res)...)
				shared[m.ID] = true
			}
			continue
		}
		if m.Res.PendingReplacement || b.isStillUsed(m.ID, members) {
			continue
		}
		s := &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpDelete, URN: m.Res.URN, Type: m.Res.Type, Old: m.Res, Provider: m.Res.Provider, Internal: m.Res.URN.IsDefaultProvider(), Reason: m.Why,
		}}
		if !m.Res.Delete {
			s.Op, s.Kind = stages.OpDeleteReplaced, stages.DeletedFirst
		} else if m.Res == b.rooms.Base.StandIn(m.Res.URN) {
			s.Kind = stages.DeletedFirst // resources that stay may refer to it
		}
		deletes[m.ID] = s
	}
	members = slices.DeleteFunc(members, func(m closure.Member) bool { return shared[m.ID] })
	b.deleteSuperseded(c, members, deletes)
	tasks, err := b.scheduleDeletes(d.Seq, deletes)
	if err != nil {
		return err
	}
	b.decisions.Add(d.URN, rooms.Replaced)
	if d.DeletedByClosure {
		c.After = append(c.After, b.rooms.Decisions.DeletionsOf(d.Claimed)...)
	}
	var own []*stages.Decision
	deletedFirst := d.DeletedByClosure || !b.claimedIsStillUsed(d, members)
	if deletedFirst && !d.IsPending() {
		b.decisions.Add(d.Old.URN, rooms.Deleted)
		first := &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpDeleteReplaced, URN: d.Old.URN, Type: d.Old.Type, Old: d.Old, Provider: d.Old.Provider, Internal: d.Internal, Reason: d.Reason,
			RetainedNow: d.Goal.IsRetained() && !d.Old.RetainOnDelete,
		}, Kind: stages.DeletedFirst}
		if d.Old.URN != d.URN {
			first.CurrentURN = d.URN
		}
		own = append(own, first)
	}
	b.waves.Add(d.URN, deletes, own)
	own = b.withPrelude(d, append(own, b.replacement(d, deletedFirst)...)...)
	last := stages.Task{ID: b.rooms.Tasks.New(1), Steps: own}
	var steps []*stages.Decision
	for _, t := range tasks {
		last.After = append(last.After, t.ID)
		steps = append(steps, t.Steps...)
	}
	return b.commitTasks(d, append(steps, own...), stages.Built{Located: d.Located, Tasks: append(tasks, last), After: c.After}, x)
}

// mayDelete refuses a closure with a protected member.
func (b *builder) mayDelete(d stages.Diffed, members []closure.Member) error {
	if b.rooms.IgnoreProtect {
		return nil
	}
	for _, m := range slices.Backward(members) {
		stays := b.rooms.Decisions.IsDeletedByClosure(m.Res) || m.Res.PendingReplacement || m.Res.Delete || b.isStillUsed(m.ID, members)
		if m.Res.Protect && !stays {
			return b.control.FailRegistration(d.Located, 0, &state.ProtectedError{URNs: []urn.URN{m.Res.URN}, Refused: state.RefusedReplace, With: d.URN})
		}
	}
	return nil
}

// scheduleDeletes makes the tasks of a closure's deletes, by base position. A dependent is deleted before its dependencies, even if
// a resource that stays is between them.
func (b *builder) scheduleDeletes(root int, deletes map[graph.ID]*stages.Decision) ([]stages.Task, error) {
	schedule, err := b.rooms.Base.WithinComponents().Schedule(slices.Collect(maps.Keys(deletes)), closure.DeletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	first := b.rooms.Tasks.New(len(schedule))
	tasks := make([]stages.Task, len(schedule))
	for i, entry := range schedule {
		tasks[i] = closure.TaskOf(entry, first, graph.ID(i))
		if s := deletes[entry.Node]; !entry.Relay {
			tasks[i].Steps = []*stages.Decision{s}
			b.decisions.SetDeletion(entry.Node, stages.Deletion{Task: tasks[i].ID, URN: s.URN, Root: root})
		}
	}
	return tasks, nil
}

// isStillUsed reports whether a resource that is not a member of its closure uses a provider: one that is only read, or the old
// copy of one that has moved to another provider. A state may not name a provider that is not recorded (state.md 1.14 I-4), so the
// old provider stays until the end phase, as in a create-before-delete.
func (b *builder) isStillUsed(id graph.ID, members []closure.Member) bool {
	res := b.rooms.Base.Resources[id]
	if !res.Type.IsProvider() || res.PendingReplacement {
		return false
	}
	ref := state.ProviderRefOf(res)
	return slices.ContainsFunc(b.rooms.Base.Graph.Dependents(id), func(e graph.Edge) bool {
		user := b.rooms.Base.Resources[e.ID]
		goes := user.PendingReplacement || b.rooms.Decisions.IsDeletedByClosure(user) ||
			slices.ContainsFunc(members, func(m closure.Member) bool { return m.ID == e.ID })
		return user.Provider == ref && !goes
	})
}

// claimedIsStillUsed is like isStillUsed, for the recorded state that a registration continues.
func (b *builder) claimedIsStillUsed(d stages.Diffed, members []closure.Member) bool {
	id, ok := b.rooms.Base.ID(d.Claimed)
	return ok && b.isStillUsed(id, members)
}
