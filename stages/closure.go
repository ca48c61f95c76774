package stages

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// root is a delete-before-replace that is being decided: which recorded dependents must go with it (steps.md 3.11)?
// Dependents are probed as soon as what they depend on among them has been decided, many at once.
type root struct {
	d       Diffed
	closure *graph.Closure
	set     map[urn.URN]bool    // URNs that will be replaced, the root's own among them
	why     map[graph.ID]Reason // of the members
	pending map[graph.ID]*probe // asked and not answered
	after   []deletion          // of dependents that other roots take with them
}

func newRoot(d Diffed, old *state.Resource) *root {
	return &root{d: d, set: map[urn.URN]bool{old.URN: true, d.URN: true}, why: map[graph.ID]Reason{}, pending: map[graph.ID]*probe{}}
}

// probe asks whether a recorded resource would have to be replaced if some of its inputs changed.
type probe struct {
	root   int // number of the root's registration
	id     graph.ID
	old    *state.Resource
	inputs property.Map
	cause  urn.URN
}

// replaceDeletingFirst begins a delete-before-replace: the closure is parked until its extent is known.
func (b *builder) replaceDeletingFirst(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	c := newRoot(d, d.Old)
	if id, ok := b.run.base.ids[d.claimed]; ok {
		c.closure = graph.NewClosure(b.run.base.graph, id, closureKinds, b.impossible(c))
		visited := map[graph.ID]bool{id: true}
		for _, candidate := range c.closure.Candidates() {
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
func (b *builder) impossible(c *root) func(graph.ID) bool {
	return func(id graph.ID) bool {
		res := b.run.base.resources[id]
		if b.run.outcomes.isGone(res) {
			c.after = append(c.after, b.run.outcomes.deletionsOf(res)...)
			return true
		}
		return c.isPrecededBy(b.run, res)
	}
}

// isPrecededBy tells whether a registration before the root's goes on with a recorded state.
func (c *root) isPrecededBy(r *Run, res *state.Resource) bool {
	by, ok := r.names.claimant(res)
	return ok && by < c.d.Seq
}

// advance decides every dependent that can be decided and asks about the rest.
func (b *builder) advance(c *root, x pipeline.Exchange[Ask, Built]) error {
	for c.closure != nil && !c.closure.Done() {
		ready := c.closure.Ready()
		if len(ready) == 0 {
			return nil // answers are still to come
		}
		for _, id := range ready {
			in, why, p := c.judge(id, b.run.base.resources[id])
			if p == nil {
				c.settle(id, b.run.base.resources[id], in, why)
				continue
			}
			c.pending[id] = p
			x.Ask(Ask{probe: p})
		}
	}
	return b.settleRoot(c, x)
}

// judge decides about a dependent without asking its provider, or returns what to ask (steps.md 3.11 "needsReplace").
func (c *root) judge(id graph.ID, res *state.Resource) (in bool, why Reason, ask *probe) {
	if !res.Custom || res.External {
		return false, Reason{}, nil
	}
	if ref, err := urn.ParseProviderRef(res.Provider); err == nil && c.set[ref.URN] {
		return true, Reason{Kind: ReasonDependency, Cause: ref.URN}, nil
	}
	if res.DeletedWith != "" && c.set[res.DeletedWith] {
		return true, Reason{Kind: ReasonDeletedWith, Cause: res.DeletedWith}, nil
	}
	inputs := res.Inputs.Mutable()
	var cause urn.URN
	for name := range inputs {
		for _, dep := range res.PropertyDependencies[name] {
			if c.set[dep] {
				inputs[name] = property.Computed()
				if cause == "" || dep < cause {
					cause = dep
				}
			}
		}
	}
	if cause == "" {
		return false, Reason{}, nil
	}
	return false, Reason{}, &probe{root: c.d.Seq, id: id, old: res, inputs: property.NewMap(inputs), cause: cause}
}

func (c *root) settle(id graph.ID, res *state.Resource, in bool, why Reason) {
	delete(c.pending, id)
	c.closure.Answer(id, in)
	if in {
		c.set[res.URN] = true
		c.why[id] = why
	}
}

// callProbe asks the provider. Errors belong to the root. A provider with which an earlier registration goes on has the
// configuration that this one gives it.
func (r *Run) callProbe(ctx context.Context, p *probe) (providers.DiffResponse, error) {
	if claimant, ok := r.names.claimant(r.base.providers[p.old.Provider]); ok && claimant < p.root {
		if err := r.progress.await(ctx, claimant, over); err != nil {
			return providers.DiffResponse{}, err
		}
	}
	prov, err := r.providerFor(ctx, p.old)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	d, err := r.callDiff(ctx, prov, p.old.URN, p.old, p.inputs, true, p.old.IgnoreChanges)
	if err != nil {
		return d, err
	}
	_, err = replaceOnChanges(&d, p.old.ReplaceOnChanges, false)
	return d, err
}

// probed takes an answer up.
func (b *builder) probed(a Answer, x pipeline.Exchange[Ask, Built]) error {
	c := b.roots[a.probe.root]
	if a.err != nil {
		return b.run.bail(c.d.Located, codeFailed, fmt.Errorf("finding out whether %s must be replaced with it: %w", a.probe.old.URN, a.err))
	}
	why := Reason{Kind: ReasonDependency, Cause: a.probe.cause, Properties: replacingProperties(a.diff)}
	c.settle(a.probe.id, a.probe.old, a.diff.Replaces(), why)
	return b.advance(c, x)
}

// settleRoot decides a closure whose extent is known (steps.md 3.9): the deletes of the dependents, each of which waits for
// those of what depends on it; and when all of them are over the root's own, the marker, and the new object. Marking and
// handing over are one action (ORD-3, ORD-4).
func (b *builder) settleRoot(c *root, x pipeline.Exchange[Ask, Built]) error {
	delete(b.roots, c.d.Seq)
	r, d := b.run, c.d
	members := c.members(r)
	b.noteDoubtAbout(d, members)
	lingers := func(res *state.Resource) bool { return b.lingers(res, members) }
	deletes := map[graph.ID]*Decision{}
	for _, m := range slices.Backward(members) {
		if r.outcomes.isGone(m.res) {
			if _, own := deletes[r.base.ids[m.res]]; !own {
				c.after = append(c.after, r.outcomes.deletionsOf(m.res)...)
			}
			continue
		}
		r.outcomes.condemn(m.res, m.why)
		if m.res.PendingReplacement || lingers(m.res) {
			continue
		}
		s := &Decision{StepInfo: StepInfo{
			Op: OpDelete, URN: m.res.URN, Type: m.res.Type, Old: m.res, Provider: m.res.Provider, Internal: m.res.URN.IsDefaultProvider(), Reason: m.why,
		}}
		if !m.res.Delete {
			if m.res.Protect && !r.IgnoreProtect {
				return r.bail(d.Located, 0, fmt.Errorf("unable to replace resource %q as part of replacing %q as it is currently marked for protection. "+
					"To unprotect the resource, remove the `protect` flag from the resource in your program and run `sluice up`, or use the command:\n"+
					"`sluice state unprotect %s`", m.res.URN, d.URN, shellQuote(string(m.res.URN))))
			}
			s.Op, s.Kind = OpDeleteReplaced, DeletedFirst
		}
		deletes[r.base.ids[m.res]] = s
	}
	tasks, err := b.scheduleDeletes(d.Seq, deletes)
	if err != nil {
		return err
	}
	r.outcomes.add(d.URN, replaced)
	if d.gone {
		c.after = append(c.after, r.outcomes.deletionsOf(d.claimed)...)
	}
	var own []*Decision
	deletedFirst := d.gone || !lingers(d.Old)
	if deletedFirst && !d.isPending() {
		r.outcomes.add(d.Old.URN, deleted)
		own = append(own, &Decision{StepInfo: StepInfo{
			Op: OpDeleteReplaced, URN: d.Old.URN, Type: d.Old.Type, Old: d.Old, Provider: d.Old.Provider, Internal: d.Internal, Reason: d.Reason,
		}, Kind: DeletedFirst})
	}
	own = b.withPrelude(d, append(own, b.replacement(d, deletedFirst)...)...)
	last := Task{ID: r.outcomes.newTasks(1), Steps: own}
	var steps []*Decision
	for _, t := range tasks {
		last.After = append(last.After, t.ID)
		steps = append(steps, t.Steps...)
	}
	return b.commitTasks(d, append(steps, own...), Built{Located: d.Located, Tasks: append(tasks, last), after: c.after}, x)
}

// scheduleDeletes makes the tasks of a closure's deletes, by base position: a dependent goes before what it depends on, also
// if it does so through something that stays.
func (b *builder) scheduleDeletes(root int, deletes map[graph.ID]*Decision) ([]Task, error) {
	r := b.run
	schedule, err := r.base.withinComponents().Schedule(slices.Collect(maps.Keys(deletes)), deletesFirst)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	first := r.outcomes.newTasks(len(schedule))
	tasks := make([]Task, len(schedule))
	for i, entry := range schedule {
		tasks[i] = taskOf(entry, first, graph.ID(i))
		if s := deletes[entry.Node]; !entry.Relay {
			tasks[i].Steps = []*Decision{s}
			r.outcomes.setDeletion(s.Old, deletion{task: tasks[i].ID, urn: s.URN, root: root})
		}
	}
	return tasks, nil
}

// deletesFirst is the order of deletes (steps.md 5.3).
var deletesFirst = graph.Schedule{Direction: graph.DependentsFirst, Scope: graph.Scope{ThroughOthers: true}}

// taskOf makes the task of an entry of a schedule. Its tasks have consecutive IDs.
func taskOf(entry graph.Scheduled, first, place graph.ID) Task {
	t := Task{ID: first + place}
	for _, a := range entry.After {
		t.After = append(t.After, first+graph.ID(a))
	}
	return t
}

// lingers tells whether a provider is used by something that does not go with it: a resource that is only read, or the old
// copy of one that has moved to another provider. A state may not name a provider that is not recorded (state.md 1.14
// I-4), so the old provider stays until the end, as in a replacement that deletes last.
func (b *builder) lingers(res *state.Resource, members []member) bool {
	if !res.Type.IsProvider() || res.PendingReplacement {
		return false
	}
	r, ref := b.run, state.ProviderRefOf(res)
	return slices.ContainsFunc(r.base.graph.Dependents(r.base.ids[res]), func(e graph.Edge) bool {
		user := r.base.resources[e.ID]
		goes := user.PendingReplacement || r.outcomes.isGone(user) ||
			slices.ContainsFunc(members, func(m member) bool { return m.res == user })
		return user.Provider == ref && !goes
	})
}

type member struct {
	res *state.Resource
	why Reason
}

// members lists the closure in base order, then what is to be replaced together with the root: one level of replaceWith
// and deletedWith (steps.md 3.11 "cascade"). What registered before the root is decided and stays. Recorded partners of a
// root that has another name now are replaced when they register.
func (c *root) members(r *Run) []member {
	var out []member
	if c.closure != nil {
		for _, id := range c.closure.Members() {
			if why, ok := c.why[id]; ok {
				out = append(out, member{r.base.resources[id], why})
			}
		}
	}
	for _, res := range r.base.attached[c.d.URN] {
		if res.Delete || res == c.d.claimed || c.isPrecededBy(r, res) {
			continue
		}
		kind := ReasonReplaceWith
		if res.DeletedWith == c.d.URN {
			kind = ReasonDeletedWith
		}
		out = append(out, member{res, Reason{Kind: kind, Cause: c.d.URN}})
	}
	return out
}
