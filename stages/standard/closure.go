package standard

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/possible"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// closures decides the closures of delete-before-replaces: which dependents are deleted first, and in which order.
type closures struct {
	control   *control.Control
	rooms     *rooms.Rooms
	decisions *rooms.DecisionsWriter
	plans     *plan.Plans
	waves     *closure.Waves
	history   *history
	carrier   *carrier
	roots     map[int]*closure.Root // those whose dependents are being probed, by the number of the root's registration
}

// begin returns the root of a delete-before-replace. If an earlier registration may claim a candidate of its closure, or
// continues a dependent, that registration has to be decided first: begin returns its number, and no root.
func (cl *closures) begin(d stages.Diffed) (c *closure.Root, first int) {
	c = closure.NewRoot(d, d.Old)
	id, recorded := cl.rooms.Base.ID(d.Claimed)
	if !recorded {
		return c, 0
	}
	c.Closure = graph.NewClosure(cl.rooms.Base.Graph, id, graph.NotParent, cl.impossible(c))
	visited := map[graph.ID]bool{id: true}
	for _, candidate := range c.Closure.Candidates() {
		if first, open := cl.rooms.Ancestors.NearestOpen(d.Seq, candidate, visited); open {
			return nil, first
		}
	}
	if first, open := cl.history.openDependent(d.Seq, id); open {
		return nil, first
	}
	return c, 0
}

// impossible returns a function that reports whether a recorded state can no longer be a member of a root's closure: an earlier
// registration continues it, or it is deleted already (steps.md 3.11).
//
// The deletes of the latter must be over before that of the root. In a preview they stay candidates, so that the first of the roots
// that delete them is named, and not the one whose registration happened to arrive first.
func (cl *closures) impossible(c *closure.Root) func(graph.ID) bool {
	return func(id graph.ID) bool {
		res := cl.rooms.Base.Resources[id]
		if cl.rooms.Decisions.IsDeletedByClosure(res) {
			c.After = append(c.After, cl.rooms.Decisions.DeletionsOf(res)...)
			if !cl.control.DryRun() {
				return true
			}
		}
		preceded := c.IsPrecededBy(cl.rooms, res)
		if preceded {
			c.After = append(c.After, cl.rooms.Decisions.DeletionsOf(res)...) // of the old object
		}
		return preceded
	}
}

// advance decides every dependent that can be decided, and probes the rest. It reports whether all are decided.
func (cl *closures) advance(c *closure.Root, ask func(Ask)) bool {
	for c.Closure != nil && !c.Closure.Done() {
		ready := c.Closure.Ready()
		if len(ready) == 0 {
			cl.roots[c.D.Seq] = c
			return false // answers are missing
		}
		for _, id := range ready {
			in, why, p := c.NeedsReplace(id, cl.rooms.Base.Resources[id], cl.rooms.ReplaceDependsOn)
			if p == nil {
				c.Answer(id, cl.rooms.Base.Resources[id], in, why)
				continue
			}
			ask(Ask{probe: p})
		}
	}
	return true
}

// probed processes the answer to a probe, and returns the root that it belongs to.
func (cl *closures) probed(a Answer) (*closure.Root, error) {
	c := cl.roots[a.probe.Root]
	if a.err != nil {
		err := fmt.Errorf("finding out whether %s must be replaced with it: %w", a.probe.Old.URN, a.err)
		if !cl.control.DryRun() {
			return nil, cl.control.Bail(c.D.Located, stages.CodeFailed, err)
		}
		c.Fail(a.probe.ID, err) // other answers may be missing
	}
	why := stages.Reason{Kind: stages.ReasonDependency, Cause: a.probe.Cause, Properties: compare.ReplacingProperties(a.diff)}
	c.Answer(a.probe.ID, a.probe.Old, a.diff.Replaces(), why)
	return c, nil
}

// drop forgets a root that is refused.
func (cl *closures) drop(seq int) { delete(cl.roots, seq) }

// decide decides a closure when all its members are known (steps.md 3.9). First come the deletes of the members, each of
// which waits for those of its dependents. When all of them are over, the root's delete, the marker and the new object follow.
// Marking and emitting are one action (ORD-3, ORD-4): the caller emits the result.
func (cl *closures) decide(c *closure.Root) (stages.Built, error) {
	delete(cl.roots, c.D.Seq)
	d := c.D
	if c.Failed != nil {
		return stages.Built{}, cl.control.FailRegistration(d.Located, stages.CodeFailed, c.Failed)
	}
	all := c.Members(cl.rooms)
	possible.NoteClosure(d, all)
	deletes, members, err := cl.deletesOf(c, all)
	if err != nil {
		return stages.Built{}, err
	}
	cl.plans.MarkClosureUncertain(d, all)
	for _, m := range all {
		if u := m.Res.URN; cl.rooms.Targeting.Excludes.Matches(u) && !m.Res.Delete {
			cl.control.Warn(u, "it is excluded, but goes along with %s, which is deleted before it is replaced", d.URN)
		}
	}
	for _, m := range slices.Backward(all) {
		cl.decisions.DeleteByClosure(m.ID, rooms.ClosureDelete{Root: d.Precedence(), Why: m.Why})
	}
	deleteSuperseded(cl.history, c, members, deletes)
	tasks, err := cl.schedule(d.Seq, deletes)
	if err != nil {
		return stages.Built{}, err
	}
	cl.decisions.Add(d.URN, rooms.Replaced)
	if d.DeletedByClosure {
		c.After = append(c.After, cl.rooms.Decisions.DeletionsOf(d.Claimed)...)
	}
	deletedFirst := d.DeletedByClosure || !cl.claimedIsStillUsed(d, members)
	var own []*stages.Decision
	if deletedFirst && !d.IsPending() {
		cl.decisions.Add(d.Old.URN, rooms.Deleted|rooms.DeletedFirst)
		own = append(own, deleteFirstStep(d))
	}
	cl.waves.Add(d.URN, deletes, own)
	last := stages.Task{ID: cl.rooms.Tasks.New(1), Steps: cl.carrier.prelude(d, append(own, replacementSteps(d, deletedFirst)...)...)}
	for _, t := range tasks {
		last.After = append(last.After, t.ID)
	}
	return stages.Built{Located: d.Located, Tasks: append(tasks, last), After: c.After}, nil
}

// deletesOf returns the deletes of the members of a closure, and the members without those that an earlier closure deletes. The root
// comes after the deletes of the latter. It decides nothing.
func (cl *closures) deletesOf(c *closure.Root, all []closure.Member) (deletes map[graph.ID]*stages.Decision, members []closure.Member, err error) {
	deletes = map[graph.ID]*stages.Decision{}
	seen, shared := map[graph.ID]bool{}, map[graph.ID]bool{}
	for _, m := range slices.Backward(all) {
		again := seen[m.ID]
		seen[m.ID] = true
		switch {
		case deletes[m.ID] != nil:
		case again, cl.rooms.Decisions.IsDeletedByClosure(m.Res):
			c.After = append(c.After, cl.rooms.Decisions.DeletionsOf(m.Res)...)
			shared[m.ID] = true
		case m.Res.PendingReplacement, cl.isStillUsed(m.ID, all):
		case m.Res.Protect && !m.Res.Delete && !cl.rooms.IgnoreProtect:
			return nil, nil, cl.control.FailRegistration(c.D.Located, 0,
				&state.ProtectedError{URNs: []urn.URN{m.Res.URN}, Refused: state.RefusedReplace, With: c.D.URN})
		case cl.isLeftByDestroy(m.Res, c.D.Seq):
			why := "is excluded from the destroy"
			if cl.rooms.Targeting.Targets.IsConstrained() {
				why = "is not a target of the destroy"
			}
			return nil, nil, cl.control.FailRegistration(c.D.Located, 0, fmt.Errorf("replacing %s would delete %s, which %s: "+
				"undo the change that replaces it, or destroy without running the program", c.D.URN, m.Res.URN, why))
		default:
			deletes[m.ID] = memberStep(m, m.Res == cl.rooms.Base.StandIn(m.Res.URN), cl.rooms.IsTakenOver(m.Res))
		}
	}
	return deletes, slices.DeleteFunc(slices.Clone(all), func(m closure.Member) bool { return shared[m.ID] }), nil
}

// isLeftByDestroy reports whether targets or excludes keep a destroy from deleting a recorded state. An update makes the members of a closure again,
// a destroy does not. Providers need not be chosen: they are part of every operation (steps.md 6.2).
func (cl *closures) isLeftByDestroy(res *state.Resource, seq int) bool {
	return cl.rooms.Mode == stages.ModeDestroy && cl.rooms.Targeting.IsPartial() && !res.Delete && !cl.rooms.IncludesRecorded(res, seq)
}

// schedule makes the tasks of a closure's deletes, by base position. A dependent is deleted before its dependencies, even if
// a resource that stays is between them.
func (cl *closures) schedule(root int, deletes map[graph.ID]*stages.Decision) ([]stages.Task, error) {
	schedule, err := cl.rooms.Base.WithinComponents().Schedule(slices.Collect(maps.Keys(deletes)), closure.DeletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	first := cl.rooms.Tasks.New(len(schedule))
	tasks := make([]stages.Task, len(schedule))
	for i, entry := range schedule {
		tasks[i] = closure.TaskOf(entry, first, graph.ID(i))
		if s := deletes[entry.Node]; !entry.Relay {
			tasks[i].Steps = []*stages.Decision{s}
			cl.decisions.SetDeletion(entry.Node, stages.Deletion{Task: tasks[i].ID, URN: s.URN, Root: root})
		}
	}
	return tasks, nil
}

// isStillUsed reports whether a resource that is not a member of its closure uses a provider: one that is only read, or the old
// copy of one that has moved to another provider. A state may not name a provider that is not recorded (state.md 1.14 I-4), so the
// old provider stays until the end phase, as in a create-before-delete.
func (cl *closures) isStillUsed(id graph.ID, members []closure.Member) bool {
	res := cl.rooms.Base.Resources[id]
	if !res.Type.IsProvider() || res.PendingReplacement {
		return false
	}
	ref := state.ProviderRefOf(res)
	return slices.ContainsFunc(cl.rooms.Base.Graph.Dependents(id), func(e graph.Edge) bool {
		user := cl.rooms.Base.Resources[e.ID]
		goes := user.PendingReplacement || cl.rooms.Decisions.IsDeletedByClosure(user) ||
			slices.ContainsFunc(members, func(m closure.Member) bool { return m.ID == e.ID })
		return user.Provider == ref && !goes
	})
}

// claimedIsStillUsed is like isStillUsed, for the recorded state that a registration continues.
func (cl *closures) claimedIsStillUsed(d stages.Diffed, members []closure.Member) bool {
	id, ok := cl.rooms.Base.ID(d.Claimed)
	return ok && cl.isStillUsed(id, members)
}
