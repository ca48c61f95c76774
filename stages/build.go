package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
)

// Build is the stage that decides. It turns what a comparison found into steps, and owns the outcomes of every URN. It
// has one writer and does no I/O: the questions that a decision raises (would this dependent have to be replaced too?)
// go to a pool of workers, and the decision waits for the answers while others are made.
//
// Decisions come out as if they were made one at a time in order of arrival. A registration therefore waits for an
// earlier one only if that one's decision could concern it: if it continues a recorded state that its own recorded
// state depends on. Programs that declare a resource after what it depends on never make it wait.
func Build(r *Run) pipeline.Actor[Diffed, Ask, Answer, Built] {
	b := &builder{
		run: r, clear: make([]int, len(r.base.resources)), parked: map[int][]Diffed{}, roots: map[int]*root{},
		rechecks: map[int]Diffed{}, circles: newCircles(),
	}
	return pipeline.Actor[Diffed, Ask, Answer, Built]{
		Name:    "build",
		Workers: readWorkers,
		Buffer:  64,
		Receive: func(_ context.Context, d Diffed, x pipeline.Exchange[Ask, Built]) error { return b.receive(d, x) },
		Work:    r.work,
		Resume:  func(_ context.Context, a Answer, x pipeline.Exchange[Ask, Built]) error { return b.resume(a, x) },
	}
}

// builder holds what is being decided.
type builder struct {
	run      *Run
	clear    []int            // base states that no open decision can concern: see openAncestor
	parked   map[int][]Diffed // by the number of the registration that they wait for
	roots    map[int]*root    // delete-before-replaces whose dependents are being probed
	rechecks map[int]Diffed   // re-creations whose inputs are being checked again
	circles  circles
}

func (b *builder) receive(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	if first, ok := b.waitsFor(d.Seq, d.claimed); ok {
		b.parked[first] = append(b.parked[first], d)
		return nil
	}
	return b.decide(d, x)
}

// waitsFor returns the earlier registration, not decided yet, whose decision could concern the recorded state old.
func (b *builder) waitsFor(seq int, old *state.Resource) (int, bool) {
	id, ok := b.run.base.ids[old]
	if old == nil || !ok {
		return 0, false
	}
	return b.openAncestor(seq, id, map[graph.ID]bool{})
}

// closureKinds are the edges along which a delete-before-replace spreads (steps.md 3.11): all but parent.
const closureKinds = graph.Dependency | graph.PropertyDependency | graph.DeletedWith | graph.ReplaceWith | graph.Provider

// commit records that a registration is decided, hands its steps over and wakes what waited for it, in order of arrival.
func (b *builder) commit(d Diffed, steps []*Decision, x pipeline.Exchange[Ask, Built]) error {
	return b.commitAfter(d, steps, nil, x)
}

// commitAfter is commit for steps that must not begin before others are over.
func (b *builder) commitAfter(d Diffed, steps []*Decision, after []deletion, x pipeline.Exchange[Ask, Built]) error {
	var tasks []Task
	if len(steps) > 0 {
		tasks = []Task{{ID: b.run.outcomes.newTasks(1), Steps: steps}}
	}
	return b.commitTasks(d, steps, Built{Located: d.Located, Tasks: tasks, after: after}, x)
}

// commitTasks is commit for steps that are taken in several tasks.
func (b *builder) commitTasks(d Diffed, steps []*Decision, out Built, x pipeline.Exchange[Ask, Built]) error {
	if err := b.followPlan(d, steps); err != nil {
		return err
	}
	if err := b.run.uncreated(d.Located, steps); err != nil {
		return err
	}
	if err := b.circular(d, steps); err != nil {
		return err
	}
	out.refusal = b.run.doubtful(d, steps)
	b.run.progress.pass(d.Seq, decided)
	for i, s := range steps {
		s.Seq, s.Place, s.Declared = d.Seq, i, d.URN
		if s.Reason.Kind == ReasonNone {
			s.Reason = d.Reason
		}
	}
	b.run.record.note(steps...)
	b.run.noteDeclared(steps)
	if err := x.Emit(out); err != nil {
		return err
	}
	waiting := b.parked[d.Seq]
	delete(b.parked, d.Seq)
	slices.SortFunc(waiting, func(v, w Diffed) int { return v.Seq - w.Seq })
	for _, w := range waiting {
		if err := b.receive(w, x); err != nil {
			return err
		}
	}
	return nil
}

// decide is the case split of steps.md 3.6.
func (b *builder) decide(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	o := b.run.outcomes
	switch {
	case d.answered:
		return b.commit(d, nil, x)
	case d.passive:
		return b.standBy(d, x)
	case d.Read != nil:
		return b.read(d, x)
	case o.isGone(d.claimed) && d.Compared && d.isRenamed():
		return b.renew(d, x)
	case o.isGone(d.claimed):
		if d.Goal.Custom && !d.Raw && d.Included {
			b.rechecks[d.Seq] = d
			x.Ask(Ask{recheck: &d})
			return nil
		}
		return b.recreate(d, x)
	case d.violation != nil:
		return b.run.bail(d.Located, 0, d.violation)
	case !d.Included && (d.Old == nil || !d.Old.External):
		return b.leaveOut(d, x)
	case d.Old == nil:
		o.add(d.URN, created)
		return b.commit(d, b.withPrelude(d, b.create(d)), x)
	case d.Old.External:
		o.add(d.URN, created)
		return b.commit(d, b.withPrelude(d, b.replacement(d, false)...), x)
	case d.Replaces():
		return b.replace(d, x)
	case d.Diff.Changes == providers.DiffSome || len(d.Old.InitErrors) > 0:
		o.add(d.URN, updated)
		s := b.step(d, OpUpdate)
		s.Keys = nil
		return b.commit(d, b.withPrelude(d, s), x)
	}
	if d.imported {
		d.Question.answer(importedReply(d.URN, d.Old))
		return b.commit(d, b.keepProvider(d, d.Goal.Provider), x)
	}
	o.add(d.URN, same)
	own := b.same(d)
	return b.commit(d, append(b.withPrelude(d, own), b.sameViews(own)...), x)
}

// step makes a step that answers the registration.
func (b *builder) step(d Diffed, op Op) *Decision {
	fresh := d.newState(d.Checked)
	return &Decision{
		StepInfo: StepInfo{
			Op: op, URN: d.URN, Type: d.Goal.Type, Old: d.Old, New: fresh, Keys: d.Diff.ReplaceKeys, Diffs: d.Diff.ChangedKeys,
			DetailedDiff: d.Diff.DetailedDiff, Provider: fresh.Provider, Internal: d.Internal, Reason: d.Reason,
		},
		Answers: true,
	}
}

func (b *builder) create(d Diffed) *Decision { return b.step(d, OpCreate) }

func (b *builder) same(d Diffed) *Decision {
	s := b.step(d, OpSame)
	s.Keys, s.Diffs, s.DetailedDiff = nil, nil, nil
	return s
}

// withPrelude puts same steps before a registration's own: for the recorded provider that it names and that this run has
// not registered (steps.md 3.3), and, when there are targets, for what it refers to and nothing else has registered (6.5).
func (b *builder) withPrelude(d Diffed, steps ...*Decision) []*Decision {
	var before []*Decision
	if d.Goal.Custom {
		before = b.keepProvider(d, d.Goal.Provider)
	}
	if b.run.Targeting.Targets.IsConstrained() {
		own := steps[len(steps)-1]
		more, _ := b.carryReferences(own.New, d.Located) // what is missing is no error for what is included
		before = append(before, more...)
	}
	return append(before, steps...)
}

// keepProvider makes the steps that leave a recorded provider, and what that refers to, as they are for a resource that
// names it, unless a registration goes on with it or something else has kept it (steps.md 3.3). It goes by what is recorded
// and not by who has started the provider: that may have been another registration, or an import or a refresh of the same
// one.
func (b *builder) keepProvider(d Diffed, ref string) []*Decision {
	p := b.run.base.providers[ref]
	if p == nil || p.Delete {
		return nil
	}
	if _, claimed := b.run.names.claimant(p); claimed {
		return nil
	}
	b.run.record.use(p, d.URN)
	if b.isGenerated(p.URN) {
		return nil
	}
	b.run.outcomes.add(p.URN, same)
	steps, _ := b.carryReferences(p, d.Located) // what is missing is no error for what is not itself registered
	s := carriedStep(p)
	s.Kind, s.Reason = Provisional, Reason{Kind: ReasonCarried, Cause: d.URN}
	return append(steps, s)
}

// replacement is the pair of steps that makes the new object: in a create-before-delete the marker comes after it.
func (b *builder) replacement(d Diffed, deletedFirst bool) []*Decision {
	if d.Rechecked != nil {
		d.Inputs = *d.Rechecked
	}
	makes := b.step(d, OpCreateReplacement)
	marker := b.step(d, OpReplace)
	marker.Answers = false
	marker.New = makes.New
	if deletedFirst {
		return []*Decision{marker, makes}
	}
	return []*Decision{makes, marker}
}

// recreate makes again what a delete-before-replace of something else has deleted (steps.md 3.6).
func (b *builder) recreate(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	o := b.run.outcomes
	if d.Old == nil {
		d.Old = d.claimed // a refresh did not find it any more
	}
	d.Raw = true // what the deleted object had does not count
	if err := b.holdAnew(d); err != nil {
		return err
	}
	why := o.reasonFor(d.claimed)
	o.remove(d.claimed.URN, deleted)
	o.add(d.URN, replaced)
	d.Reason = why
	d.Diff = providers.DiffResponse{Changes: providers.DiffSome}
	steps := b.replacement(d, true)
	steps[1].Keys = why.Properties
	return b.commitAfter(d, b.withPrelude(d, steps...), o.deletionsOf(d.claimed), x)
}

// renew is recreate for a resource that has another name now. It has been compared with what was deleted, which is replaced
// whatever the comparison says (steps.md 3.16).
func (b *builder) renew(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	forced := !d.Replaces()
	d.gone = true
	if !forced {
		return b.replace(d, x)
	}
	d.Reason = b.run.outcomes.reasonFor(d.claimed)
	if !d.Goal.Custom || d.Raw {
		return b.replace(d, x)
	}
	b.rechecks[d.Seq] = d
	x.Ask(Ask{recheck: &d})
	return nil
}

// replace is steps.md 3.9.
func (b *builder) replace(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	r := b.run
	if r.isProtected(d.Located) {
		err := fmt.Errorf("unable to replace resource %q\nas it is currently marked for protection. To unprotect the resource, "+
			"remove the `protect` flag from the resource in your program and run `sluice up`", d.URN)
		if !r.DryRun() {
			return r.bail(d.Located, 0, err)
		}
		r.diagnose(d.URN, Error, 0, err.Error())
		r.failures.add(Failure{Seq: d.Seq, URN: d.URN, Err: err})
	}
	if d.Goal.ImportID != "" {
		text := r.importRefusal(d)
		if !r.DryRun() {
			return r.bail(d.Located, 0, fmt.Errorf("%s", text))
		}
		r.diagnose(d.URN, Warning, 0, text)
	}
	d.Reason.Order = d.order()
	if d.Reason.Order != "" {
		return b.replaceDeletingFirst(d, x)
	}
	r.outcomes.add(d.URN, replaced)
	if d.gone {
		return b.commitAfter(d, b.withPrelude(d, b.replacement(d, true)...), r.outcomes.deletionsOf(d.claimed), x)
	}
	return b.commit(d, b.withPrelude(d, b.replacement(d, false)...), x)
}

// order says who wants the old object deleted before the new one is made; "" when it is deleted afterwards.
func (d Diffed) order() Order {
	wish := d.Goal.DeleteBeforeReplace
	switch {
	case d.Old.PendingReplacement:
		return OrderInterrupted
	case d.deleteFirst:
		return OrderName // two objects of that name cannot exist, whatever the program says (steps.md 3.5)
	case isTrue(wish):
		return OrderOption
	case wish != nil:
		return ""
	case d.Diff.DeleteBeforeReplace:
		return OrderProvider
	}
	return ""
}

// read is steps.md 4.1.
func (b *builder) read(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	g, o := d.Read, b.run.outcomes
	if g.ID.IsString() && g.ID.AsString() == "" {
		return b.run.bail(d.Located, 0, fmt.Errorf("Expected an ID for %v", d.URN))
	}
	id, fresh := g.ID.AsString(), d.newRead()
	s := &Decision{StepInfo: StepInfo{
		Op: OpRead, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: Reason{Kind: ReasonRead},
	}, Answers: true}
	if d.Old == nil || d.Old.External || d.Old.ID == id {
		o.add(d.URN, read)
		return b.commit(d, append(b.keepProvider(d, g.Provider), s), x)
	}
	o.add(d.URN, replaced)
	s.Op, s.Reason.Kind = OpReadReplacement, ReasonReadOther
	marker := &Decision{StepInfo: StepInfo{
		Op: OpReplace, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: s.Reason,
	}}
	return b.commit(d, append(b.keepProvider(d, g.Provider), s, marker), x)
}

// Ask is a question that build puts to providers while it decides.
type Ask struct {
	recheck *Diffed
	probe   *probe
}

// Answer is the answer to an [Ask].
type Answer struct {
	recheck          *Diffed
	probe            *probe
	accepted, inputs property.Map
	diff             providers.DiffResponse
	err              error
}

// work answers a question. It runs in many goroutines and reads no state of build.
func (r *Run) work(ctx context.Context, q Ask) (Answer, error) {
	if q.recheck != nil {
		accepted, inputs, err := r.checkAnew(ctx, q.recheck.Analyzed)
		return Answer{recheck: q.recheck, accepted: accepted, inputs: inputs}, err
	}
	diff, err := r.callProbe(ctx, q.probe)
	return Answer{probe: q.probe, diff: diff, err: err}, nil
}

func (b *builder) resume(a Answer, x pipeline.Exchange[Ask, Built]) error {
	if a.recheck != nil {
		d := *a.recheck
		delete(b.rechecks, d.Seq)
		if d.gone {
			d.Rechecked = &a.inputs
			return b.replace(d, x)
		}
		d.Inputs, d.accepted = a.inputs, a.accepted
		return b.recreate(d, x)
	}
	return b.probed(a, x)
}
