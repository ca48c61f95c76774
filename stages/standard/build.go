package standard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
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
	roots     map[int]*closure.Root   // delete-before-replaces whose dependents are being probed
	decided   []decided               // by base position; nil until a registration continues a recorded state
	rechecks  map[int]stages.Diffed   // re-creations whose inputs are being checked again
	circles   circles
	possible  *possible.Changes
	waves     *closure.Waves
}

func (b *builder) receive(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	b.noteDone(d.Located)
	for _, old := range []*state.Resource{d.Claimed, b.rooms.Base.StandIn(d.URN)} {
		if first, ok := b.waitsFor(d.Seq, old); ok {
			b.parked[first] = append(b.parked[first], d)
			return nil
		}
	}
	return b.decideOrRefuse(d, b.decide(d, x), x)
}

// decideOrRefuse decides that a registration has failed, if that is the error of its decision and the run goes on. It returns any other error.
func (b *builder) decideOrRefuse(d stages.Diffed, err error, x pipeline.Exchange[Ask, stages.Built]) error {
	if err == nil {
		return nil
	}
	if err := b.control.PassOn(&d.Located, err); err != nil {
		return err
	}
	delete(b.roots, d.Seq)
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
	if err := b.circular(d, steps); err != nil {
		return err
	}
	b.noteDecided(d, out.Tasks)
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
		return b.decideBypassed(d, x)
	case d.Read != nil:
		return b.read(d, x)
	case d.Unknown != nil:
		return b.refuseUnknown(d, x)
	case o.IsDeletedByClosure(d.Claimed) && d.Compared && d.IsRenamed():
		return b.renew(d, x)
	case o.IsDeletedByClosure(d.Claimed):
		if d.Course == stages.LeftOut || d.Goal.Custom && !d.Raw {
			b.askAnew(d, x)
			return nil
		}
		return b.recreate(d, x)
	case d.Violation != nil:
		return b.control.FailRegistration(d.Located, 0, d.Violation)
	case d.Course == stages.LeftOut && (d.Old == nil || !d.Old.External):
		return b.leaveOut(d, x)
	case d.Old == nil:
		b.decisions.Add(d.URN, rooms.Created)
		return b.commit(d, b.withPrelude(d, b.step(d, stages.OpCreate)), x)
	case d.Old.External:
		b.decisions.Add(d.URN, rooms.Created)
		return b.commit(d, b.withPrelude(d, b.replacement(d, false)...), x)
	case d.Replaces():
		return b.replace(d, x)
	case d.Diff.Changes == providers.DiffSome || len(d.Old.InitErrors) > 0:
		b.decisions.Add(d.URN, rooms.Updated)
		s := b.step(d, stages.OpUpdate)
		s.Keys = nil
		showLostSettings(s, d)
		return b.commit(d, b.withPrelude(d, s), x)
	}
	if d.Origin == stages.FromImport {
		d.Reply = importedReply(d.URN, d.Old)
		return b.commit(d, b.carryForwardProvider(d, d.Goal.Provider), x)
	}
	b.decisions.Add(d.URN, rooms.Same)
	own := b.same(d)
	return b.commit(d, append(b.withPrelude(d, own), b.sameViews(own)...), x)
}

// step makes a step that answers the registration.
func (b *builder) step(d stages.Diffed, op stages.Op) *stages.Decision {
	fresh := d.NewState(d.Checked)
	return &stages.Decision{
		StepInfo: stages.StepInfo{
			Op: op, URN: d.URN, Type: d.Goal.Type, Old: d.Old, New: fresh, Keys: d.Diff.ReplaceKeys, Diffs: d.Diff.ChangedKeys,
			DetailedDiff: d.Diff.DetailedDiff, Provider: fresh.Provider, Internal: d.Internal, Reason: d.Reason,
		},
		Answers: true,
	}
}

func (b *builder) same(d stages.Diffed) *stages.Decision {
	s := b.step(d, stages.OpSame)
	s.Keys, s.Diffs, s.DetailedDiff = nil, nil, nil
	return s
}

// showLostSettings makes the change of a default provider one that is shown and counted if a part of its recorded configuration is
// missing now: the provider's next calls may depend on it, although nobody may have changed the configuration.
func showLostSettings(s *stages.Decision, d stages.Diffed) {
	if !s.Internal {
		return
	}
	diff := property.Diff(providers.Configuration(d.Old.Inputs).Without(providers.VersionKey), providers.Configuration(d.Inputs).Without(providers.VersionKey), nil)
	if diff == nil || len(diff.Deletes) == 0 {
		return
	}
	s.Internal = false
	if len(s.Diffs) == 0 {
		s.Diffs = diff.ChangedKeys()
	}
}

// withPrelude puts same steps before the steps of a registration: for the recorded provider that it names and that this run has not
// registered (steps.md 3.3), and, if there are targets, for resources that it refers to and that nothing else has registered (6.5).
func (b *builder) withPrelude(d stages.Diffed, steps ...*stages.Decision) []*stages.Decision {
	var before []*stages.Decision
	if d.Goal.Custom {
		before = b.carryForwardProvider(d, d.Goal.Provider)
	}
	if b.rooms.Targeting.Targets.IsConstrained() {
		own := steps[len(steps)-1]
		more, _ := b.carryReferences(own.New, d.Located) // an included resource may refer to missing ones
		before = append(before, more...)
	}
	return append(before, steps...)
}

// carryForwardProvider makes the steps that carry forward a recorded provider, and the resources that it refers to, for a resource
// that names it. It makes none if a registration continues the provider or it is carried forward already (steps.md 3.3). This
// depends on the recorded state and not on who has started the provider: another registration may have started it, or an import or
// a refresh of the same one.
func (b *builder) carryForwardProvider(d stages.Diffed, ref string) []*stages.Decision {
	p := b.rooms.Base.Providers[ref]
	if p == nil || p.Delete {
		return nil
	}
	if _, claimed := b.rooms.Names.Claimant(p); claimed {
		return nil
	}
	b.decisions.Use(p, d.URN)
	if b.isGenerated(p.URN) {
		return nil
	}
	b.decisions.Add(p.URN, rooms.Same)
	steps, _ := b.carryReferences(p, d.Located) // a provider that is not registered itself may refer to missing resources
	s := stages.CarriedForwardStep(p)
	s.Kind, s.Reason = stages.Provisional, stages.Reason{Kind: stages.ReasonCarriedForward, Cause: d.URN}
	return append(steps, s)
}

// replacement returns the two steps that make the new object. In a create-before-delete the marker comes after it.
func (b *builder) replacement(d stages.Diffed, deletedFirst bool) []*stages.Decision {
	if d.Rechecked != nil {
		d.Inputs = *d.Rechecked
	}
	makes := b.step(d, stages.OpCreateReplacement)
	marker := b.step(d, stages.OpReplace)
	marker.Answers = false
	marker.New = makes.New
	if deletedFirst {
		return []*stages.Decision{marker, makes}
	}
	return []*stages.Decision{makes, marker}
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
	b.rooms.NotInTime(b.control, d.Located, why.Cause)
	b.decisions.Remove(d.Claimed.URN, rooms.Deleted)
	b.decisions.Add(d.URN, rooms.Replaced)
	d.Reason = why
	d.Diff = providers.DiffResponse{Changes: providers.DiffSome}
	steps := b.replacement(d, true)
	steps[1].Keys = why.Properties
	return b.commitAfter(d, b.withPrelude(d, steps...), o.DeletionsOf(d.Claimed), x)
}

// renew is like recreate, for a resource that has been renamed. It has been compared with the deleted state, and is replaced
// whatever the result (steps.md 3.16).
func (b *builder) renew(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	forced := !d.Replaces()
	d.DeletedByClosure = true
	why, _ := b.rooms.Decisions.ReasonOf(d.Claimed)
	b.rooms.NotInTime(b.control, d.Located, why.Cause)
	if !forced {
		if why.Possible == nil {
			d.Reason.Possible = nil
		}
		if d.Rechecked == nil && d.Goal.Custom && !d.Raw { // it was about to be refused
			b.askAnew(d, x)
			return nil
		}
		return b.replace(d, x)
	}
	d.Reason = why
	if !d.Goal.Custom || d.Raw {
		return b.replace(d, x)
	}
	b.askAnew(d, x)
	return nil
}

// askAnew has the workers check the inputs of a registration again, as those of a new object. Inputs of a resource that was left
// out have not been checked: it is replaced with another one, and is created again as the program declares it now (decision 0167).
// The argument d is a copy that lives on.
func (b *builder) askAnew(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) {
	b.rechecks[d.Seq] = d
	x.Ask(Ask{recheck: &d})
}

// replace decides a replacement (steps.md 3.9).
func (b *builder) replace(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	d.Reason.Order = orderOf(d)
	b.possible.Note(d)
	var root *closure.Root
	if d.Reason.Order != "" {
		if root = b.rootOrPark(d); root == nil {
			return nil // it is decided again
		}
	}
	if err := b.mayReplace(d); err != nil {
		return err
	}
	if root != nil {
		b.roots[d.Seq] = root
		return b.advance(root, x)
	}
	b.decisions.Add(d.URN, rooms.Replaced)
	if d.DeletedByClosure {
		return b.commitAfter(d, b.withPrelude(d, b.replacement(d, true)...), b.rooms.Decisions.DeletionsOf(d.Claimed), x)
	}
	return b.commit(d, b.withPrelude(d, b.replacement(d, false)...), x)
}

// mayReplace refuses a replacement that protection or an import ID forbids. A preview goes on.
func (b *builder) mayReplace(d stages.Diffed) error {
	if b.rooms.IsProtected(d.Located, d.IsPending()) {
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

// orderOf returns why the old object is deleted before the new one is created; "" if it is deleted afterwards.
func orderOf(d stages.Diffed) stages.Order {
	wish := d.Goal.DeleteBeforeReplace
	switch {
	case d.Old.PendingReplacement:
		return stages.OrderInterrupted
	case d.DeleteFirst:
		return stages.OrderName // two objects of that name cannot exist, whatever the program declares (steps.md 3.5)
	case wish != nil && *wish:
		return stages.OrderOption
	case wish != nil:
		return ""
	case d.Diff.DeleteBeforeReplace:
		return stages.OrderProvider
	}
	return ""
}

// read decides a read (steps.md 4.1).
func (b *builder) read(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	g := d.Read
	if g.ID.IsString() && g.ID.AsString() == "" {
		return b.control.FailRegistration(d.Located, 0, fmt.Errorf("Expected an ID for %v", d.URN))
	}
	if e := b.rooms.UnknownInput(d.Located, g.Properties.With("id", g.ID), false); e != nil && (e.Because == stages.SourceNotCreated || !b.control.DryRun()) {
		return b.readUnknown(d, e, x)
	}
	id, fresh := g.ID.AsString(), d.NewRead()
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRead, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: stages.Reason{Kind: stages.ReasonRead},
	}, Answers: true}
	if d.Old == nil || d.Old.External || d.Old.ID == id {
		b.decisions.Add(d.URN, rooms.Read)
		return b.commit(d, append(b.carryForwardProvider(d, g.Provider), s), x)
	}
	if err := b.mayReplace(d); err != nil {
		return err
	}
	b.decisions.Add(d.URN, rooms.Replaced)
	s.Op, s.Reason.Kind = stages.OpReadReplacement, stages.ReasonReadOther
	marker := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpReplace, URN: d.URN, Type: g.Type, Old: d.Old, New: fresh, Provider: g.Provider, Reason: s.Reason,
	}}
	return b.commit(d, append(b.carryForwardProvider(d, g.Provider), s, marker), x)
}

// Ask is a call of a provider that the build stage needs for a decision.
type Ask struct {
	recheck *stages.Diffed
	probe   *closure.Probe
}

// Answer is the result of an [Ask].
type Answer struct {
	recheck          *stages.Diffed // with the result of the check
	probe            *closure.Probe
	accepted, inputs property.Map
	diff             providers.DiffResponse
	err              error
}

// questioner is the shared data of the build stage's workers.
type questioner struct {
	prober *closure.Prober
	differ *differ
}

// work carries out an Ask. It runs in many goroutines and reads no state of the builder.
func (qr *questioner) work(ctx context.Context, q Ask) (Answer, error) {
	if q.recheck != nil {
		a, err := qr.recheck(ctx, *q.recheck)
		var reported *stages.ReportedError
		if errors.As(err, &reported) && reported.GoesOn {
			return Answer{recheck: q.recheck, err: err}, nil
		}
		return a, err
	}
	diff, err := qr.prober.CallProbe(ctx, q.probe)
	return Answer{probe: q.probe, diff: diff, err: err}, nil
}

// recheck checks the inputs of a registration again.
func (qr *questioner) recheck(ctx context.Context, d stages.Diffed) (Answer, error) {
	if d.Course == stages.LeftOut {
		return qr.include(ctx, d)
	}
	accepted, inputs, err := qr.differ.checkAnew(ctx, d.Analyzed)
	return Answer{recheck: &d, accepted: accepted, inputs: inputs}, err
}

// include checks and analyzes a registration that was left out, as that of a new object.
func (qr *questioner) include(ctx context.Context, d stages.Diffed) (Answer, error) {
	l := d.Located
	l.Course, l.Old = stages.Managed, nil
	c, err := qr.differ.checker.check(ctx, l)
	if err != nil {
		return Answer{}, err
	}
	c.Accepted = c.Inputs
	a, err := qr.differ.analyst.analyze(ctx, stages.Analyzed{Checked: c})
	if err != nil {
		return Answer{}, err
	}
	a.Old = d.Old
	d.Analyzed = a
	return Answer{recheck: &d, accepted: a.Accepted, inputs: a.Inputs}, nil
}

func (b *builder) resume(a Answer, x pipeline.Exchange[Ask, stages.Built]) error {
	if a.recheck != nil {
		d := *a.recheck
		delete(b.rechecks, d.Seq)
		switch {
		case a.err != nil:
			return b.decideOrRefuse(d, a.err, x)
		case d.DeletedByClosure:
			d.Rechecked = &a.inputs
			return b.decideOrRefuse(d, b.replace(d, x), x)
		}
		d.Inputs, d.Accepted = a.inputs, a.accepted
		return b.decideOrRefuse(d, b.recreate(d, x), x)
	}
	root := b.roots[a.probe.Root]
	return b.decideOrRefuse(root.D, b.probed(root, a, x), x)
}

// importedReply returns the answer to a registration that needs only its import.
func importedReply(u urn.URN, s *state.Resource) *stages.RegisterReply {
	return &stages.RegisterReply{URN: u, ID: s.ID, Outputs: s.Outputs}
}
