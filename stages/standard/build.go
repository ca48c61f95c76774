package standard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/possible"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// stage returns the stage that decides. It turns the result of a comparison into steps, and owns the decisions about every URN. It
// has one writer and does no I/O. A decision may need answers of providers, such as whether a dependent has to be replaced too. A
// pool of workers gets these, and other decisions are made meanwhile.
//
// Decisions are the same as if they were made one at a time in order of arrival. A registration therefore waits for an earlier one
// only if the decision about that one could concern it: if the earlier one continues a recorded state that its own recorded state
// depends on. Programs that declare resources after their dependencies never make it wait.
func (b *builder) stage(workers *questioner) pipeline.Actor[stages.Diffed, Ask, Answer, stages.Built] {
	return pipeline.Actor[stages.Diffed, Ask, Answer, stages.Built]{
		Name:    "build",
		Workers: workers.differ.access.ReadWorkers(),
		Buffer:  64,
		Receive: func(_ context.Context, d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
			return b.receive(d, x)
		},
		Work:   workers.work,
		Resume: func(_ context.Context, a Answer, x pipeline.Exchange[Ask, stages.Built]) error { return b.resume(a, x) },
	}
}

// builder holds the open decisions.
type builder struct {
	control   *control.Control
	rooms     *rooms.Rooms
	decisions *rooms.DecisionsWriter
	passes    *rooms.ProgressWriter // of the milestone "decided"
	plans     *plan.Plans
	targets   *targeting.Targets
	parked    map[int][]stages.Diffed // by the number of the registration that they wait for
	possible  *possible.Changes
	closures  *closures
	carrier   *carrier
	circles   *circles
	history   *history
	unmanaged *unmanaged
}

func (b *builder) receive(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	b.noteDone(d.Located)
	for _, old := range []*state.Resource{d.Claimed, b.rooms.Base.StandIn(d.URN)} {
		if first, ok := b.waitsFor(d.Seq, old); ok {
			b.parked[first] = append(b.parked[first], d)
			return nil
		}
	}
	return b.decideOrRefuse(d, x, func() error { return b.decide(d, x) })
}

// decideOrRefuse decides, or decides that the registration has failed, if that is the error of its decision and the run goes on. It returns any other
// error.
func (b *builder) decideOrRefuse(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built], decide func() error) error {
	err := decideImported(b.control, d.Analyzed, decide)
	if err == nil {
		return nil
	}
	if err := b.control.PassOn(&d.Located, err); err != nil {
		return err
	}
	b.closures.drop(d.Seq)
	return b.commit(d, nil, x)
}

// noteDone records the changes of a registration's recorded state by earlier stages.
func (b *builder) noteDone(l stages.Located) {
	if l.Origin == stages.ToReread {
		b.decisions.Add(l.URN, rooms.Refreshed)
	}
	if l.Origin == stages.FromImport || l.Course == stages.ImportFailed {
		b.decisions.Add(l.URN, rooms.Imported)
	}
	if l.Supersedes {
		b.decisions.Add(l.URN, rooms.Replaced)
	}
}

// waitsFor returns the earlier, undecided registration whose decision could concern the recorded state old.
func (b *builder) waitsFor(seq int, old *state.Resource) (int, bool) {
	id, ok := b.rooms.Base.ID(old)
	if old == nil || !ok {
		return 0, false
	}
	return b.rooms.Ancestors.NearestOpen(seq, id, map[graph.ID]bool{})
}

// commit records that a registration is decided, emits its steps and resumes the registrations that waited for it, in order of
// arrival.
func (b *builder) commit(d stages.Diffed, steps []*stages.Decision, x pipeline.Exchange[Ask, stages.Built]) error {
	return b.commitAfter(d, steps, nil, x)
}

// commitAfter is like commit, for steps that must not begin before others are over.
func (b *builder) commitAfter(d stages.Diffed, steps []*stages.Decision, after []stages.Deletion, x pipeline.Exchange[Ask, stages.Built]) error {
	var tasks []stages.Task
	if len(steps) > 0 {
		tasks = []stages.Task{{ID: b.rooms.Tasks.New(1), Steps: steps}}
	}
	return b.commitTasks(d, steps, stages.Built{Located: d.Located, Tasks: tasks, After: after}, x)
}

// commitTasks is like commit, for steps in several tasks.
func (b *builder) commitTasks(d stages.Diffed, steps []*stages.Decision, out stages.Built, x pipeline.Exchange[Ask, stages.Built]) error {
	if out.Refusal == nil {
		if err := b.plans.Follow(d, steps); err != nil {
			return err
		}
	}
	if err := b.targets.Uncreated(d.Located, steps); err != nil {
		return err
	}
	if err := b.circles.refuse(d, steps); err != nil {
		return err
	}
	b.history.note(d, out.Tasks)
	if out.Refusal == nil {
		out.Refusal = b.refuseInterrupted(d, steps)
	}
	out.After = append(out.After, b.rooms.Decisions.DeletionsOf(b.rooms.Base.StandIn(d.URN))...)
	b.passes.Pass(d.Seq)
	for i, s := range steps {
		s.Seq, s.Place, s.Declared = d.Seq, i, d.URN
		if s.Reason.Kind == stages.ReasonNone {
			s.Reason = d.Reason
		}
	}
	b.decisions.NoteDeclared(steps...)
	if err := x.Emit(out); err != nil {
		return err
	}
	waiting := b.parked[d.Seq]
	delete(b.parked, d.Seq)
	slices.SortFunc(waiting, func(v, w stages.Diffed) int { return v.Seq - w.Seq })
	for _, w := range waiting {
		if err := b.receive(w, x); err != nil {
			return err
		}
	}
	return nil
}

// decide chooses among the cases of steps.md 3.6.
func (b *builder) decide(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	o := b.rooms.Decisions
	d.Reason.Possible = b.possible.Of(d)
	switch {
	case d.Course.HasFailed():
		return b.commit(d, nil, x)
	case d.Course.IsBypassed():
		steps, reply := b.unmanaged.bypass(d)
		if reply != nil {
			d.Reply = reply
		}
		return b.commit(d, steps, x)
	case d.Read != nil:
		return b.read(d, x)
	case d.Unknown != nil:
		return b.refuseUnknown(d, x)
	case o.IsDeletedByClosure(d.Claimed) && d.Compared && d.IsRenamed():
		return b.renew(d, x)
	case o.IsDeletedByClosure(d.Claimed):
		if d.Course == stages.LeftOut || d.Goal.Custom && !d.Raw {
			b.recheck(d, x)
			return nil
		}
		return b.recreate(d, x)
	case d.Violation != nil:
		return b.control.FailRegistration(d.Located, 0, d.Violation)
	case d.Course == stages.LeftOut && (d.Old == nil || !d.Old.External):
		steps, err := b.unmanaged.leaveOut(d)
		if err != nil {
			return err
		}
		return b.commit(d, steps, x)
	case d.Old == nil:
		b.decisions.Add(d.URN, rooms.Created)
		return b.commit(d, b.carrier.prelude(d, newStep(d, stages.OpCreate)), x)
	case d.Old.External:
		b.decisions.Add(d.URN, rooms.Created)
		return b.commit(d, b.carrier.prelude(d, replacementSteps(d, false)...), x)
	case d.Replaces():
		return b.replace(d, x)
	case d.Diff.Changes == providers.DiffSome || len(d.Old.InitErrors) > 0:
		b.decisions.Add(d.URN, rooms.Updated)
		s := newStep(d, stages.OpUpdate)
		s.Keys = nil
		showLostSettings(s, d)
		return b.commit(d, b.carrier.prelude(d, s), x)
	}
	if d.Origin == stages.FromImport {
		d.Reply = importedReply(d.URN, d.Old)
		return b.commit(d, b.carrier.provider(d, d.Goal.Provider), x)
	}
	b.decisions.Add(d.URN, rooms.Same)
	own := sameStep(d)
	return b.commit(d, append(b.carrier.prelude(d, own), b.carrier.views(own)...), x)
}

// recreate creates again a member of a closure that a delete-before-replace has deleted (steps.md 3.6).
func (b *builder) recreate(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	o := b.rooms.Decisions
	if d.Old == nil {
		d.Old = d.Claimed // a refresh has not found it
	}
	d.Raw = true // the properties of the deleted object do not count
	if err := b.plans.HoldAnew(d); err != nil {
		return err
	}
	why, _ := o.ReasonOf(d.Claimed)
	warnTooLate(b.control, b.rooms, d.Located)
	b.decisions.Remove(d.Claimed.URN, rooms.Deleted|rooms.DeletedFirst)
	b.decisions.Add(d.URN, rooms.Replaced)
	d.Reason = why
	d.Diff = providers.DiffResponse{Changes: providers.DiffSome}
	steps := replacementSteps(d, true)
	steps[1].Keys = why.Properties
	return b.commitAfter(d, b.carrier.prelude(d, steps...), o.DeletionsOf(d.Claimed), x)
}

// renew is like recreate, for a resource that has been renamed. It has been compared with the deleted state, and is replaced
// whatever the result (steps.md 3.16).
func (b *builder) renew(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	forced := !d.Replaces()
	d.DeletedByClosure = true
	why, _ := b.rooms.Decisions.ReasonOf(d.Claimed)
	if !forced {
		if why.Possible == nil {
			d.Reason.Possible = nil
		}
		if d.Rechecked == nil && d.Goal.Custom && !d.Raw { // it was about to be refused
			b.recheck(d, x)
			return nil
		}
		return b.replace(d, x)
	}
	d.Reason = why
	if !d.Goal.Custom || d.Raw {
		return b.replace(d, x)
	}
	b.recheck(d, x)
	return nil
}

// recheck has the workers check the inputs of a registration again, as those of a new object. Inputs of a resource that was left
// out have not been checked: it is replaced with another one, and is created again as the program declares it now (decision 0167).
// The argument d is a copy that lives on.
func (b *builder) recheck(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) {
	x.Ask(Ask{recheck: &d})
}

// replace decides a replacement (steps.md 3.9).
func (b *builder) replace(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	d.Reason.Order = orderOf(d)
	b.possible.Note(d)
	var root *closure.Root
	if d.Reason.Order != "" {
		var first int
		if root, first = b.closures.begin(d); root == nil {
			b.parked[first] = append(b.parked[first], d) // and it is decided again
			return nil
		}
	}
	if d.DeletedByClosure {
		warnTooLate(b.control, b.rooms, d.Located)
	}
	if err := b.mayReplace(d); err != nil {
		return err
	}
	if root != nil {
		return b.advance(root, x)
	}
	b.decisions.Add(d.URN, rooms.Replaced)
	if d.DeletedByClosure {
		return b.commitAfter(d, b.carrier.prelude(d, replacementSteps(d, true)...), b.rooms.Decisions.DeletionsOf(d.Claimed), x)
	}
	return b.commit(d, b.carrier.prelude(d, replacementSteps(d, false)...), x)
}

// mayReplace refuses a replacement that protection or an import ID forbids. A preview goes on.
func (b *builder) mayReplace(d stages.Diffed) error {
	if rooms.IsProtected(b.rooms, d.Located, d.IsPending()) {
		if err := b.control.BailUnlessDry(d.Located, &state.ProtectedError{URNs: []urn.URN{d.URN}, Refused: state.RefusedReplace}); err != nil {
			return err
		}
	}
	if d.Goal != nil && d.Goal.ImportID != "" {
		text := importRefusal(d)
		if !b.control.DryRun() {
			return b.control.FailRegistration(d.Located, 0, errors.New(text))
		}
		b.control.Diagnose(d.URN, stages.Warning, 0, text)
	}
	return nil
}

// read decides a read (steps.md 4.1).
func (b *builder) read(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	g := d.Read
	if g.ID.IsString() && g.ID.AsString() == "" {
		return b.control.FailRegistration(d.Located, 0, fmt.Errorf("Expected an ID for %v", d.URN))
	}
	if e := rooms.UnknownInput(b.rooms, d.Located, g.Properties.With("id", g.ID), false); e != nil && (e.Because == stages.SourceNotCreated || !b.control.DryRun()) {
		return b.readUnknown(d, e, x)
	}
	id, fresh := g.ID.AsString(), d.NewRead()
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRead, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: stages.Reason{Kind: stages.ReasonRead},
	}, Answers: true}
	if d.Old == nil || d.Old.External || d.Old.ID == id {
		b.decisions.Add(d.URN, rooms.Read)
		return b.commit(d, append(b.carrier.provider(d, g.Provider), s), x)
	}
	if err := b.mayReplace(d); err != nil {
		return err
	}
	b.decisions.Add(d.URN, rooms.Replaced)
	s.Op, s.Reason.Kind = stages.OpReadReplacement, stages.ReasonReadOther
	marker := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpReplace, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: s.Reason,
	}}
	return b.commit(d, append(b.carrier.provider(d, g.Provider), s, marker), x)
}

func (b *builder) resume(a Answer, x pipeline.Exchange[Ask, stages.Built]) error {
	if a.recheck != nil {
		d := *a.recheck
		switch {
		case a.err != nil:
			return b.decideOrRefuse(d, x, func() error { return a.err })
		case d.DeletedByClosure:
			d.Rechecked = &a.inputs
			return b.decideOrRefuse(d, x, func() error { return b.replace(d, x) })
		}
		d.Inputs, d.Accepted = a.inputs, a.accepted
		return b.decideOrRefuse(d, x, func() error { return b.recreate(d, x) })
	}
	root, err := b.closures.probed(a)
	if err != nil {
		return err
	}
	return b.decideOrRefuse(root.D, x, func() error { return b.advance(root, x) })
}

// advance decides as much of a closure as is known. When all of it is, it commits the root.
func (b *builder) advance(root *closure.Root, x pipeline.Exchange[Ask, stages.Built]) error {
	if !b.closures.advance(root, x.Ask) {
		return nil
	}
	out, err := b.closures.decide(root)
	if err != nil {
		return err
	}
	return b.commitTasks(root.D, out.Steps(), out, x)
}

// refuseInterrupted returns why the steps of a registration must not run: they would create an object that may exist
// already. A preview still shows the steps, and that they would fail; it does not call the provider. Steps that resolve
// the interrupted creates are marked.
func (b *builder) refuseInterrupted(d stages.Diffed, steps []*stages.Decision) error {
	if d.InterruptedCreate == nil || d.Origin == stages.FromImport {
		return nil
	}
	for _, s := range steps {
		switch s.Op {
		case stages.OpCreate, stages.OpCreateReplacement, stages.OpRead, stages.OpReadReplacement:
		default:
			continue
		}
		switch {
		case !s.Answers:
		case d.InterruptedCreate.Again:
			s.Resolves = d.InterruptedCreate.URN
		case !d.InterruptedCreate.Open || s.IsRead():
		case b.control.DryRun():
			s.Kind = stages.NotCalled
			err := &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
			b.control.Fail(d.Seq, d.URN, stages.CodePreviewFailed, err)
		default:
			return &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
		}
	}
	return nil
}

// refuseUnknown decides about a registration whose inputs are not known well enough to make the resource. Its steps are refused as
// a whole, or skipped if the value is missing because of a failure. The recorded state stays.
func (b *builder) refuseUnknown(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	o, out := b.rooms.Decisions, stages.Built{Located: d.Located, Refusal: d.Unknown}
	var steps []*stages.Decision
	switch {
	case o.IsDeletedByClosure(d.Claimed):
		if d.Old == nil {
			d.Old = d.Claimed
		}
		d.Reason, _ = o.ReasonOf(d.Claimed)
		b.decisions.Remove(d.Claimed.URN, rooms.Deleted|rooms.DeletedFirst)
		b.decisions.Add(d.URN, rooms.Replaced)
		steps, out.After = replacementSteps(d, true), o.DeletionsOf(d.Claimed)
	case d.Old == nil || d.Old.External:
		b.decisions.Add(d.URN, rooms.Created)
		steps = []*stages.Decision{newStep(d, stages.OpCreate)}
	default:
		b.decisions.Add(d.URN, rooms.Updated)
		steps = []*stages.Decision{newStep(d, stages.OpUpdate)}
	}
	out.Tasks = []stages.Task{{ID: b.rooms.Tasks.New(1), Steps: steps}}
	return b.commitTasks(d, steps, out, x)
}

// readUnknown decides about a read whose ID is unknown to the program. If it waits for a resource that is not part of the
// operation, it is left as it is recorded, and the program goes on without it.
func (b *builder) readUnknown(d stages.Diffed, why *stages.UnknownInputError, x pipeline.Exchange[Ask, stages.Built]) error {
	g := d.Read
	if why.Because == stages.SourceNotCreated {
		s := skippedCreateStep(d)
		b.decisions.LeaveUncreated(s.New)
		return b.commit(d, []*stages.Decision{s}, x)
	}
	b.decisions.Add(d.URN, rooms.Read)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRead, URN: d.URN, Type: g.Type, Old: d.Old, New: d.NewRead(), Provider: g.Provider, Reason: stages.Reason{Kind: stages.ReasonRead},
	}, Answers: true}
	steps := []*stages.Decision{s}
	return b.commitTasks(d, steps, stages.Built{
		Located: d.Located, Refusal: why, Tasks: []stages.Task{{ID: b.rooms.Tasks.New(1), Steps: steps}},
	}, x)
}
