package standard

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/state"
)

// replaceDeletingFirst begins a delete-before-replace: the closure is parked until its extent is known.
func (b *builder) replaceDeletingFirst(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	c := closure.NewRoot(d, d.Old)
	if id, ok := b.Base.Ids[d.Claimed]; ok {
		c.Closure = graph.NewClosure(b.Base.Graph, id, book.ClosureKinds, b.impossible(c))
		visited := map[graph.ID]bool{id: true}
		for _, candidate := range c.Closure.Candidates() {
			if first, open := b.openAncestor(d.Seq, candidate, visited); open {
				// Another registration, which came before, may want one of these: it decides first.
				b.parked[first] = append(b.parked[first], d)
				return nil
			}
		}
	}
	b.roots[d.Seq] = c
	return b.advance(c, x)
}

// impossible says which recorded states cannot depend on a root any more: those that a registration before it continues
// or that are deleted already (steps.md 3.11).
//
// One that is deleted already has to be gone before the root is.
func (b *builder) impossible(c *closure.Root) func(graph.ID) bool {
	return func(id graph.ID) bool {
		res := b.Base.Resources[id]
		if b.Outcomes.IsDeletedByClosure(res) {
			c.After = append(c.After, b.Outcomes.DeletionsOf(res)...)
			return true
		}
		return c.IsPrecededBy(b.Book, res)
	}
}

// advance decides every dependent that can be decided and asks about the rest.
func (b *builder) advance(c *closure.Root, x pipeline.Exchange[Ask, stages.Built]) error {
	for c.Closure != nil && !c.Closure.Done() {
		ready := c.Closure.Ready()
		if len(ready) == 0 {
			return nil // answers are still to come
		}
		for _, id := range ready {
			in, why, p := c.NeedsReplace(id, b.Base.Resources[id])
			if p == nil {
				c.Answer(id, b.Base.Resources[id], in, why)
				continue
			}
			c.Pending[id] = p
			x.Ask(Ask{probe: p})
		}
	}
	return b.finishClosure(c, x)
}

// probed takes an answer up.
func (b *builder) probed(a Answer, x pipeline.Exchange[Ask, stages.Built]) error {
	c := b.roots[a.probe.Root]
	if a.err != nil {
		return b.Bail(c.D.Located, stages.CodeFailed, fmt.Errorf("finding out whether %s must be replaced with it: %w", a.probe.Old.URN, a.err))
	}
	why := stages.Reason{Kind: stages.ReasonDependency, Cause: a.probe.Cause, Properties: compare.ReplacingProperties(a.diff)}
	c.Answer(a.probe.ID, a.probe.Old, a.diff.Replaces(), why)
	return b.advance(c, x)
}

// finishClosure decides a closure whose extent is known (steps.md 3.9): the deletes of the dependents, each of which waits for
// those of what depends on it; and when all of them are over the root's own, the marker, and the new object. Marking and
// handing over are one action (ORD-3, ORD-4).
func (b *builder) finishClosure(c *closure.Root, x pipeline.Exchange[Ask, stages.Built]) error {
	delete(b.roots, c.D.Seq)
	r, d := b, c.D
	members := c.Members(r.Book)
	b.Plans.MarkClosureUncertain(d, members)
	lingers := func(res *state.Resource) bool { return b.isStillUsed(res, members) }
	deletes := map[graph.ID]*stages.Decision{}
	for _, m := range slices.Backward(members) {
		if r.Outcomes.IsDeletedByClosure(m.Res) {
			if _, own := deletes[r.Base.Ids[m.Res]]; !own {
				c.After = append(c.After, r.Outcomes.DeletionsOf(m.Res)...)
			}
			continue
		}
		r.Outcomes.DeleteByClosure(m.Res, m.Why)
		if m.Res.PendingReplacement || lingers(m.Res) {
			continue
		}
		s := &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpDelete, URN: m.Res.URN, Type: m.Res.Type, Old: m.Res, Provider: m.Res.Provider, Internal: m.Res.URN.IsDefaultProvider(), Reason: m.Why,
		}}
		if !m.Res.Delete {
			if m.Res.Protect && !r.IgnoreProtect {
				return r.Bail(d.Located, 0, fmt.Errorf("unable to replace resource %q as part of replacing %q as it is currently marked for protection. "+
					"To unprotect the resource, remove the `protect` flag from the resource in your program and run `sluice up`, or use the command:\n"+
					"`sluice state unprotect %s`", m.Res.URN, d.URN, m.Res.URN.ShellQuoted()))
			}
			s.Op, s.Kind = stages.OpDeleteReplaced, stages.DeletedFirst
		}
		deletes[r.Base.Ids[m.Res]] = s
	}
	tasks, err := b.scheduleDeletes(d.Seq, deletes)
	if err != nil {
		return err
	}
	r.Outcomes.Add(d.URN, book.Replaced)
	if d.DeletedByClosure {
		c.After = append(c.After, r.Outcomes.DeletionsOf(d.Claimed)...)
	}
	var own []*stages.Decision
	deletedFirst := d.DeletedByClosure || !lingers(d.Old)
	if deletedFirst && !d.IsPending() {
		r.Outcomes.Add(d.Old.URN, book.Deleted)
		own = append(own, &stages.Decision{StepInfo: stages.StepInfo{
			Op: stages.OpDeleteReplaced, URN: d.Old.URN, Type: d.Old.Type, Old: d.Old, Provider: d.Old.Provider, Internal: d.Internal, Reason: d.Reason,
		}, Kind: stages.DeletedFirst})
	}
	own = b.withPrelude(d, append(own, b.replacement(d, deletedFirst)...)...)
	last := stages.Task{ID: r.Outcomes.NewTasks(1), Steps: own}
	var steps []*stages.Decision
	for _, t := range tasks {
		last.After = append(last.After, t.ID)
		steps = append(steps, t.Steps...)
	}
	return b.commitTasks(d, append(steps, own...), stages.Built{Located: d.Located, Tasks: append(tasks, last), After: c.After}, x)
}

// scheduleDeletes makes the tasks of a closure's deletes, by base position: a dependent goes before what it depends on, also
// if it does so through something that stays.
func (b *builder) scheduleDeletes(root int, deletes map[graph.ID]*stages.Decision) ([]stages.Task, error) {
	r := b
	schedule, err := r.Base.WithinComponents().Schedule(slices.Collect(maps.Keys(deletes)), closure.DeletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	first := r.Outcomes.NewTasks(len(schedule))
	tasks := make([]stages.Task, len(schedule))
	for i, entry := range schedule {
		tasks[i] = closure.TaskOf(entry, first, graph.ID(i))
		if s := deletes[entry.Node]; !entry.Relay {
			tasks[i].Steps = []*stages.Decision{s}
			r.Outcomes.SetDeletion(s.Old, stages.Deletion{Task: tasks[i].ID, URN: s.URN, Root: root})
		}
	}
	return tasks, nil
}

// isStillUsed reports whether a provider is used by something that does not go with it: a resource that is only read, or the old
// copy of one that has moved to another provider. A state may not name a provider that is not recorded (state.md 1.14
// I-4), so the old provider stays until the end, as in a replacement that deletes last.
func (b *builder) isStillUsed(res *state.Resource, members []closure.Member) bool {
	if !res.Type.IsProvider() || res.PendingReplacement {
		return false
	}
	r, ref := b, state.ProviderRefOf(res)
	return slices.ContainsFunc(r.Base.Graph.Dependents(r.Base.Ids[res]), func(e graph.Edge) bool {
		user := r.Base.Resources[e.ID]
		goes := user.PendingReplacement || r.Outcomes.IsDeletedByClosure(user) ||
			slices.ContainsFunc(members, func(m closure.Member) bool { return m.Res == user })
		return user.Provider == ref && !goes
	})
}
