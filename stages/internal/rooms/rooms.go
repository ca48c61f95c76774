package rooms

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Rooms holds the rooms of a run: the recorded states, the names, the decisions, the results and the outcomes. All stages may read
// them. Each room has a lock of its own, which is never held across a call of another room. [Writers] write the rooms.
type Rooms struct {
	Base               *Base
	Names              *Names
	Decisions          *Decisions
	Results            *Results
	Outcomes           *Outcomes
	Outputs            *Outputs
	Omissions          *Omissions
	Progress           *Progress
	InterruptedCreates *InterruptedCreates
	Ancestors          *Ancestors // nil until the base is made
	Tasks              TaskIDs

	Mode            stages.Mode // what is done with declared resources
	Targeting       stages.Targeting
	RefreshEach     bool
	ContinueOnError bool
	IgnoreProtect   bool
	root            urn.URN // of the root stack

	// vanished are the recorded URNs whose objects a refresh did not find.
	vanished map[urn.URN]bool
	isOpen   bool
}

// Recorded is the recorded state from which the base is made.
type Recorded struct {
	*state.Snapshot
	// Vanished are the URNs whose objects a refresh did not find.
	Vanished map[urn.URN]bool
	// Again are the resources of pending creates that may be created again, whatever the pending create has made.
	Again map[*state.Resource]bool
}

// Writers write the rooms. Each goes to the constructor of one part of the run.
type Writers struct {
	Base      *BaseWriter
	Names     *NamesWriter
	Decisions *DecisionsWriter
	Omissions *OmissionsWriter
	Outputs   *OutputsWriter
	Reread    *ProgressWriter // the milestones that registrations pass
	Decided   *ProgressWriter
	Over      *ProgressWriter
	Steps     StepWriters
}

// StepWriters write the results of executed steps.
type StepWriters struct {
	Results            *ResultsWriter
	Outcomes           *OutcomesWriter
	Outputs            *OutputsOpener
	ViewNames          *ViewNamesWriter
	InterruptedCreates *InterruptedCreatesWriter
}

// NewRooms returns the rooms of a run with an empty base, and their writers.
func NewRooms(s stages.Settings) (*Rooms, Writers) {
	outcomes, writes := newOutcomes()
	return NewDraft(s, outcomes, writes)
}

// NewDraft is [NewRooms] for the phase of a run before its base is made. The outcomes are those of the run.
func NewDraft(s stages.Settings, outcomes *Outcomes, writes *OutcomesWriter) (*Rooms, Writers) {
	b := &Rooms{
		Base: &Base{}, Outcomes: outcomes, Progress: newProgress(),
		Mode: s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		root: urn.RootStack(s.Info.Stack, s.Info.Project),
	}
	var w Writers
	b.Names = newNames(b.Base, s.Targeting)
	b.Decisions, w.Decisions = newDecisions(s.Mode)
	b.Results, w.Steps.Results = newResults()
	b.Outputs, w.Steps.Outputs, w.Outputs = newOutputs()
	b.Omissions, w.Omissions = newOmissions(b)
	w.Base = &BaseWriter{rooms: b, results: w.Steps.Results}
	w.Names = &NamesWriter{rooms: b, names: b.Names}
	w.Reread, w.Decided, w.Over = &ProgressWriter{b.Progress, Reread}, &ProgressWriter{b.Progress, Decided}, &ProgressWriter{b.Progress, Over}
	w.Steps.Outcomes, w.Steps.ViewNames = writes, &ViewNamesWriter{b.Names}
	b.InterruptedCreates, w.Steps.InterruptedCreates = newInterruptedCreates()
	return b, w
}

// BaseWriter makes the base.
type BaseWriter struct {
	rooms   *Rooms
	results *ResultsWriter
}

// Open makes the base, which does not change afterwards. It is called once, before anything is looked up.
func (w *BaseWriter) Open(was Recorded) {
	rooms := w.rooms
	if rooms.isOpen {
		panic("rooms: the base is made once")
	}
	rooms.isOpen = true
	rooms.Base, rooms.vanished = NewBase(was.Resources), was.Vanished
	rooms.Names.open(rooms.Base)
	rooms.Ancestors = &Ancestors{base: rooms.Base, names: rooms.Names, progress: rooms.Progress, noOpenAncestor: make([]atomic.Int64, len(was.Resources))}
	rooms.Decisions.base = rooms.Base
	w.results.addViews(rooms.Base.Resources)
	rooms.InterruptedCreates.open(was, rooms.Base)
}

// IsOpen reports whether the base has been made.
func (rooms *Rooms) IsOpen() bool { return rooms.isOpen }

// HasVanished reports whether a refresh did not find the object of a recorded URN any more.
func (rooms *Rooms) HasVanished(u urn.URN) bool { return rooms.vanished[u] }

// IsDeletedBefore reports whether a delete-before-replace of something else has deleted the recorded state of a registration, so
// that the state does not count any more (steps.md 3.6 "recreate"). Names decide: a resource to which the program gives another
// name is checked and compared as usual, as one whose replacement has begun.
func (rooms *Rooms) IsDeletedBefore(l stages.Located) bool {
	return !l.IsRenamed() && rooms.Decisions.IsDeletedByClosure(l.Claimed)
}

// IsDeletedOnceDecided is IsDeletedBefore once every decision that could concern the recorded state has been made.
func (rooms *Rooms) IsDeletedOnceDecided(ctx context.Context, l stages.Located) (bool, error) {
	if l.Claimed == nil || l.IsRenamed() {
		return false, nil
	}
	if err := rooms.Ancestors.AwaitDecisions(ctx, l.Seq, l.Claimed); err != nil {
		return false, err
	}
	return rooms.IsDeletedBefore(l), nil
}

// Remains returns the states that exist when the program has ended.
func (rooms *Rooms) Remains() EndGraph {
	declared := rooms.declaredStates()
	if len(declared) == 0 {
		return EndGraph{Base: rooms.Base}
	}
	a := newEndOrder(rooms, declared)
	for i := range declared {
		a.place(i)
	}
	for id := range rooms.Base.Resources {
		a.placeLeftOver(graph.ID(id))
	}
	return EndGraph{Base: newBaseOf(a.all, a.name), Declared: a.isDeclared}
}

// declaredStates returns the states that a destroy's program has declared and that still exist, in the order of the registrations'
// numbers, whatever was decided first.
func (rooms *Rooms) declaredStates() []*state.Resource {
	inOrder := rooms.Decisions.allDeclared()
	slices.SortStableFunc(inOrder, func(a, b *stages.Decision) int { return a.Rank.Compare(b.Rank) })
	var out []*state.Resource
	seen := map[*state.Resource]bool{}
	for _, s := range rooms.Outcomes.stepsOf(inOrder) {
		if s.Made != nil && rooms.Results.Current(s.Made) == s.Made && !seen[s.Made] {
			seen[s.Made] = true
			out = append(out, s.Made)
		}
	}
	return out
}

func newEndOrder(r *Rooms, declared []*state.Resource) *endOrder {
	a := &endOrder{
		rooms: r, declared: declared, at: map[urn.URN][]int{}, rest: map[urn.URN][]graph.ID{}, isDeclared: map[graph.ID]bool{},
		begun: make([]bool, len(declared)), placed: make([]bool, len(declared)), restPlaced: make([]bool, len(r.Base.Resources)),
	}
	for i, s := range declared {
		var needs []int
		for ref := range s.References() {
			needs = append(needs, a.at[a.name(s, ref.URN)]...)
		}
		u := a.name(s, s.URN)
		a.at[u], a.needs = append(a.at[u], i), append(a.needs, needs)
		if id, recorded := r.Base.ID(s); recorded {
			a.restPlaced[id] = true // it comes where the program declares it
		}
	}
	for i, res := range r.Base.Resources {
		if !a.restPlaced[i] {
			u := a.name(res, res.URN)
			a.rest[u] = append(a.rest[u], graph.ID(i))
		}
	}
	return a
}

// NotInTime reports that the program protects or retains a resource too late: the delete-before-replace of another resource, which
// deletes the old object, was decided and begun before the program declared the resource. A preview can still refuse it
// (decision 0191).
func (rooms *Rooms) NotInTime(c *control.Control, l stages.Located, cause urn.URN) {
	old := l.Claimed
	protects := l.Goal.IsProtected() && !old.Protect && !rooms.IgnoreProtect
	retains := l.Goal.IsRetained() && !old.RetainOnDelete
	option := "retainOnDelete"
	if protects {
		option = "protect"
	}
	switch {
	case old.PendingReplacement || old.External || !protects && !retains:
	case protects && c.DryRun():
		c.Fail(l.Seq, l.URN, 0, &state.ProtectedError{URNs: []urn.URN{l.URN}, Refused: state.RefusedReplace, With: cause})
	case c.DryRun():
		c.Warn(l.URN, "its old object goes with that of %s, which is deleted before it is replaced: %s is not recorded yet, and comes too late. "+
			"To keep the old object, make an update first that changes nothing but this option", cause.Name(), option)
	default:
		c.Warn(l.URN, "its old object %s goes with that of %s, which is deleted before it is replaced: that was decided before the program declared %s, "+
			"which was not recorded yet, and comes too late. It counts for the new object. "+
			"A preview shows this in time; what keeps the object is an update before this one that changes nothing but the option", old.ID, cause.Name(), option)
	}
}

// FailureOf returns the resource because of which a registration failed, was skipped or was omitted: itself if it failed.
func (rooms *Rooms) FailureOf(u urn.URN) (cause urn.URN, ok bool) {
	if cause, ok = rooms.Results.failureOf(u); ok {
		return cause, true
	}
	return rooms.Omissions.causeOf(u)
}

// FirstCause returns the first by name of a cause, "" if there is none so far, and the cause of the failure of u, if it has failed.
func (rooms *Rooms) FirstCause(cause, u urn.URN) urn.URN {
	if c, failed := rooms.FailureOf(u); failed && (cause == "" || c < cause) {
		return c
	}
	return cause
}

// HasFailures reports whether a registration failed, was skipped or was omitted.
func (rooms *Rooms) HasFailures() bool {
	return rooms.Results.haveFailures() || rooms.Omissions.areAny()
}

// IncludesRecorded reports whether a recorded state is part of the operation. Unlike the check of a registration, it adds no target
// or exclude.
func (rooms *Rooms) IncludesRecorded(s *state.Resource) bool {
	return rooms.Names.includes(rooms.Targeting, s)
}

// Refreshable returns a function that reports whether a refresh reads a recorded state: the targets and, with TargetDependents,
// their dependents; or all but the excludes (steps.md 7.1). It must be called with every state, in the order of the base.
func (rooms *Rooms) Refreshable() func(*state.Resource) bool {
	sel := rooms.Targeting
	targets, excludes := sel.Targets.Clone(), sel.Excludes.Clone()
	return func(s *state.Resource) bool {
		switch {
		case sel.Targets.IsConstrained():
			if !targets.Matches(s.URN) && !(sel.TargetDependents && refersTo(s, targets, graph.Provider)) {
				return false
			}
			targets.Add(s.URN)
		case sel.Excludes.IsConstrained():
			if excludes.Matches(s.URN) || sel.ExcludeDependents && refersTo(s, excludes, graph.Provider) {
				excludes.Add(s.URN)
				return false
			}
		}
		return true
	}
}

// ProviderState describes the provider of a reference: as this run has registered it, or as it is recorded under that ID. It is nil
// if there is no reference. ok is false if the provider is unknown.
func (rooms *Rooms) ProviderState(reference string) (p *stages.ProviderState, ok bool) {
	if reference == "" {
		return nil, true
	}
	ref, err := urn.ParseProviderRef(reference)
	if err != nil {
		return nil, false
	}
	s, ok := rooms.Results.Lookup(ref.URN)
	if !ok {
		if s = rooms.Base.Providers[ref.String()]; s == nil {
			return nil, false
		}
	}
	return &stages.ProviderState{URN: s.URN, Type: s.Type, Name: s.URN.Name(), Properties: s.Inputs.WithoutInternal()}, true
}

// FinalStates returns the managed resources that this run has registered or carried over, in canonical order.
func (rooms *Rooms) FinalStates() []*state.Resource {
	news := rooms.Results.all()
	maps.DeleteFunc(news, func(u urn.URN, _ *state.Resource) bool { return rooms.Names.NewNameOf(u) != u }) // carried over, then renamed
	urns := slices.Sorted(maps.Keys(news))
	out := make([]*state.Resource, 0, len(urns))
	for _, i := range rooms.inOrder(urns, func(i int) *state.Resource { return news[urns[i]] }) {
		out = append(out, news[urns[i]])
	}
	return out
}

// Present returns the present form of a recorded state, if it still exists.
func (rooms *Rooms) Present(old *state.Resource) []*state.Resource {
	if now := rooms.Results.Current(old); now != nil {
		return []*state.Resource{now}
	}
	return nil
}

// Awaiting returns the stand-in of a name if a delete-before-replace has deleted it and it awaits its replacement.
func (rooms *Rooms) Awaiting(u urn.URN) []*state.Resource {
	old := rooms.Base.StandIn(u)
	if old == nil {
		return nil
	}
	now := rooms.Results.Current(old)
	if now == nil || !now.PendingReplacement {
		return nil
	}
	return []*state.Resource{now}
}

// Supersede removes or marks the state that a new object replaces (steps.md 3.9), and marks its views. An object is retained if the
// new state retains it, although the old one did not (decision 0166): the mark lasts if the run ends before the delete.
func (rooms *Rooms) Supersede(old, by *state.Resource, c *state.Change) {
	now := rooms.Results.Current(old)
	switch {
	case now == nil:
	case now.PendingReplacement:
		c.Remove = append(c.Remove, now)
	default:
		for _, res := range append([]*state.Resource{now}, rooms.liveViewsOf(now)...) {
			marked := res.Clone()
			marked.Delete = true
			marked.RetainOnDelete = marked.RetainOnDelete || by.RetainOnDelete
			c.Replace = append(c.Replace, state.Replacement{Old: res, New: marked})
		}
	}
}

// IsProtected reports whether a replacement must be refused. The protection that the program declares counts, so that a resource
// can be unprotected and replaced in one update (steps.md 3.9), and is safe from the update that protects it (decision 0166). A
// read declares no protection, so the recorded one counts. If the old object is gone, only a recorded protection counts.
func (rooms *Rooms) IsProtected(l stages.Located, gone bool) bool {
	protects := l.Old.Protect
	if l.Goal != nil {
		protects = l.Goal.IsProtected()
	}
	return protects && (l.Old.Protect || !gone) && !rooms.IgnoreProtect
}

// IsOperatedOn reports whether a registration continues the recorded URN (steps.md 0.2). Creates do not count: a URN that is
// created is not in the base. An imported URN may be in the base, as a state that a replacement deleted first.
func (rooms *Rooms) IsOperatedOn(u urn.URN) bool {
	return rooms.Decisions.Has(rooms.Names.NewNameOf(u), Same|Updated|Replaced|Read|Refreshed|Imported)
}

// MissingFrom returns the first by name of the references of a step's resource that are not created, "" if there is none.
func (rooms *Rooms) MissingFrom(s *stages.Decision) urn.URN {
	if s.Kind == stages.Uncreated || s.New == nil {
		return ""
	}
	return rooms.UncreatedOf(s.New)
}

// UncreatedOf returns the first by name of the references of a state that are not created, "" if there is none.
func (rooms *Rooms) UncreatedOf(res *state.Resource) (missing urn.URN) {
	for ref := range res.References() {
		if u := ref.URN; (missing == "" || u < missing) && rooms.Decisions.Has(u, SkippedCreate) {
			missing = u
		}
	}
	return missing
}

// FailedReply answers a registration of which a step has failed. It has the existing object: a resource that did not become
// healthy, and the ID of one that was to be updated.
func (rooms *Rooms) FailedReply(b stages.Built) *stages.RegisterReply {
	reply := &stages.RegisterReply{URN: b.URN, Result: stages.Fail}
	for _, s := range rooms.Outcomes.stepsOf(b.Steps()) {
		switch {
		case !s.Answers:
		case s.Made != nil:
			reply.ID, reply.Outputs = s.Made.ID, s.Made.Outputs
		case s.Op == stages.OpUpdate:
			reply.ID = s.Old.ID
		}
	}
	return reply
}

// FailedDependencyOf returns the failed resource because of which a chain is not executed (steps.md 9.4). It considers the whole
// chain, so that a delete never runs without its create. A provider counts only if the named one is not recorded: then references
// to it could not be recorded either.
func (rooms *Rooms) FailedDependencyOf(b stages.Built) (urn.URN, bool) {
	if !rooms.ContinueOnError || !rooms.HasFailures() {
		return "", false
	}
	cause := urn.URN("")
	for _, s := range b.Steps() {
		if !s.Answers && s.Place != stages.ImportPlace || s.New == nil {
			continue
		}
		wanted := s.New
		if s.IsKept() && b.Goal != nil {
			// The program has not awaited resources that only the recorded state refers to.
			wanted = b.NewState(stages.Checked{})
		}
		for ref := range wanted.References() {
			if ref.Kind == graph.Provider && rooms.Base.Providers[wanted.Provider] != nil {
				continue
			}
			cause = rooms.FirstCause(cause, ref.URN)
		}
	}
	return cause, cause != ""
}

// final completes a list of decisions once the run is over, in their order. It leaves out void decisions: a decision to keep a
// recorded state because something refers to it is void if a registration continues the state, earlier or later (steps.md 6.5). A
// state that is kept for several resources is listed for the first of them by name, and one that several delete-before-replaces delete
// has the first of these as its reason.
func (rooms *Rooms) final(ds []*stages.Decision) []stages.Step {
	out := make([]stages.Step, 0, len(ds))
	for _, s := range rooms.Outcomes.stepsOf(ds) {
		if why, ok := rooms.closureReason(s.Decision); ok {
			deleted := *s.Decision
			deleted.Reason = why
			s.Decision = &deleted
		}
		if s.Kind == stages.Provisional {
			if _, claimed := rooms.Names.Claimant(s.Old); claimed {
				continue
			}
			if user, ok := rooms.Decisions.firstUser(s.Old); ok {
				kept := *s.Decision
				kept.Reason = stages.Reason{Kind: stages.ReasonCarriedForward, Cause: user}
				s.Decision = &kept
			}
		}
		out = append(out, s)
	}
	return out
}

// closureReason returns the reason of a step that deletes a member of a closure, and false for any other step.
func (rooms *Rooms) closureReason(d *stages.Decision) (stages.Reason, bool) {
	if d.Old == nil || d.New != nil || d.Declared == "" || d.Declared == d.URN {
		return stages.Reason{}, false
	}
	return rooms.Decisions.ReasonOf(d.Old)
}

// Provisional returns the steps of states that are kept because something refers to them, and that no registration continues. It is
// called once the run is over.
func (rooms *Rooms) Provisional() []stages.Step {
	all := slices.DeleteFunc(rooms.Outcomes.allReported(), func(d *stages.Decision) bool { return d.Kind != stages.Provisional })
	steps := rooms.final(all)
	slices.SortStableFunc(steps, func(a, b stages.Step) int { return a.Rank.Compare(b.Rank) })
	return steps
}

// Kept returns the names of the recorded states that stay although the program has not declared them, because something failed, in
// order. Default providers are left out.
func (rooms *Rooms) Kept() []urn.URN {
	var out []urn.URN
	for _, d := range rooms.Decisions.allCarried() {
		if d.Reason.Kind == stages.ReasonUndecided && !d.Internal {
			out = append(out, d.URN)
		}
	}
	return urn.SortedSet(out)
}

// Decided returns all decisions of the run, first those about registrations in the order of their arrival, then the rest. It is
// called once the run is over.
func (rooms *Rooms) Decided() []stages.Decided {
	noted := rooms.Outcomes.with(rooms.Decisions.allNoted())
	steps := rooms.final(append(noted, rooms.Omissions.all()...))
	for _, d := range rooms.Decisions.allCarried() {
		steps = append(steps, stages.Step{Decision: d, Outcome: stages.Outcome{Fate: stages.FateDone, Made: d.New}})
	}
	slices.SortStableFunc(steps, func(a, b stages.Step) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.URN, b.URN), a.Rank.Compare(b.Rank))
	})
	out, shown := make([]stages.Decided, len(steps)), make([]stages.StepInfo, len(steps))
	for i, s := range steps {
		shown[i] = s.Shown()
		out[i] = stages.Decided{StepInfo: &shown[i], Fate: s.Fate, Declared: s.Declared, Wanted: shown[i].New}
		if s.Fate == stages.FateFailed {
			out[i].Wanted = s.New
		}
		if s.Fate == stages.FateNotReached {
			if cause, ok := rooms.FailureOf(s.URN); ok {
				out[i].Fate, out[i].FailedDependency = stages.FateSkipped, cause
			}
		}
	}
	return out
}

// Steps returns the executed steps, in an order that does not depend on timing: every resource after those that it refers to, ties
// in the order of the recorded state and then of the URNs; the steps of one resource in the order in which they were executed. It
// is called once the run is over.
func (rooms *Rooms) Steps() []stages.StepInfo {
	steps := rooms.final(rooms.Outcomes.allReported())
	slices.SortStableFunc(steps, func(a, b stages.Step) int { return cmp.Or(cmp.Compare(a.URN, b.URN), a.Rank.Compare(b.Rank)) })
	var urns []urn.URN
	var ends []int // by URN
	for i, s := range steps {
		if i == 0 || s.URN != steps[i-1].URN {
			urns, ends = append(urns, s.URN), append(ends, i)
		}
		ends[len(ends)-1]++
	}
	of := func(i int) []stages.Step {
		if i == 0 {
			return steps[:ends[0]]
		}
		return steps[ends[i-1]:ends[i]]
	}
	out := make([]stages.StepInfo, 0, len(steps))
	for _, i := range rooms.inOrder(urns, func(i int) *state.Resource { return stateOf(of(i)) }) {
		for _, s := range of(i) {
			out = append(out, s.Shown())
		}
	}
	return out
}

// Counts counts the steps that are meant for users, by kind (steps.md 8.3). possible counts those that are only possible; it is nil
// if there are none. It is called once the run is over.
func (rooms *Rooms) Counts() (all, possible map[stages.Op]int) {
	all = map[stages.Op]int{}
	for _, step := range rooms.final(rooms.Outcomes.allReported()) {
		s := step.Shown()
		if !s.Op.IsLogical() || s.Internal || s.Op == stages.OpRead && (s.Old == nil || property.EqualMaps(s.Old.Outputs, s.New.Outputs)) {
			continue
		}
		all[s.Op]++
		if s.IsPossible() {
			if possible == nil {
				possible = map[stages.Op]int{}
			}
			possible[s.Op]++
		}
	}
	return all, possible
}

// stateOf returns the state that the steps of a resource leave, or the one that they began with.
func stateOf(steps []stages.Step) *state.Resource {
	if last := steps[len(steps)-1].Shown().New; last != nil {
		return last
	}
	return steps[0].Shown().Old
}

// inOrder sorts URNs canonically, and returns their places in the list. of returns the state of one, which may be nil.
func (rooms *Rooms) inOrder(urns []urn.URN, of func(int) *state.Resource) []int {
	var b graph.Builder
	b.AddNodes(len(urns))
	at := make(map[urn.URN]graph.ID, len(urns))
	for i, u := range urns {
		at[u] = graph.ID(i)
	}
	for i := range urns {
		res := of(i)
		if res == nil {
			continue
		}
		for ref := range res.References() {
			if id, ok := at[ref.URN]; ok && id != graph.ID(i) {
				b.AddEdge(graph.ID(i), id, ref.Kind)
			}
		}
	}
	order, err := b.Graph().TopologicalOrder(graph.Order{Priority: func(id graph.ID) int64 {
		if old := rooms.Base.Olds[urns[id]]; old != nil {
			id, _ := rooms.Base.ID(old)
			return int64(id)
		}
		return int64(len(rooms.Base.Resources)) + int64(id)
	}})
	places := make([]int, len(urns))
	for i := range places {
		if places[i] = i; err == nil {
			places[i] = int(order[i])
		}
	}
	return places // in the URNs' order if deletes and creates of a swap refer to each other
}

// StackOutputs returns the outputs of the root stack as they are after the run.
func (rooms *Rooms) StackOutputs() property.Map {
	root := rooms.root
	s, ok := rooms.Results.Lookup(root)
	if !ok {
		s = rooms.Results.Current(rooms.Base.Olds[root]) // the run ended before the stack was registered
	}
	if s == nil {
		return property.Map{}
	}
	return s.Outputs
}

// OldStackOutputs returns the outputs of the root stack as they were before the run.
func (rooms *Rooms) OldStackOutputs() property.Map { return rooms.RecordedOutputs(rooms.root) }

// RecordedOutputs returns the outputs of a URN as they were before the run, empty ones if it is not recorded.
func (rooms *Rooms) RecordedOutputs(u urn.URN) property.Map {
	if old := rooms.Base.Olds[u]; old != nil {
		return old.Outputs
	}
	return property.Map{}
}

// UnknownInput returns why the inputs of a registration are not known well enough, nil if they are. In a preview only unavailable
// values count: other unknown values will be known in the update.
func (rooms *Rooms) UnknownInput(l stages.Located, inputs property.Map, preview bool) *stages.UnknownInputError {
	if preview && !inputs.HasUnavailable() {
		return nil
	}
	at, v, found := inputs.FindUnknown()
	if preview {
		at, v, found = inputs.FindUnavailable()
	}
	if !found {
		return nil
	}
	e := &stages.UnknownInputError{URN: l.URN, Property: at}
	if e.Why, found = v.IsUnavailable(); found {
		return e
	}
	from := sourcesOf(l, at[0].Key)
	for _, u := range slices.Sorted(slices.Values(from)) {
		because := rooms.whyUnknown(u)
		if e.From == "" || because != stages.UnknownSource && e.Because == stages.UnknownSource {
			e.From, e.Because = u, because
		}
	}
	if e.Because == stages.SourceNotCreated {
		e.Missing = rooms.Decisions.MissingFor(&state.Resource{Dependencies: []urn.URN{e.From}})
	}
	return e
}

// sourcesOf returns the resources that the value of an input comes from, as far as the program reports them.
func sourcesOf(l stages.Located, input string) []urn.URN {
	if l.Read != nil {
		return l.Read.Dependencies
	}
	if from := l.Goal.PropertyDependencies[input]; len(from) > 0 {
		return from
	}
	return l.Goal.Dependencies
}

// whyUnknown returns why an output of a resource that the program has registered or read before may be unknown.
func (rooms *Rooms) whyUnknown(u urn.URN) stages.UnknownBecause {
	if rooms.Decisions.Has(u, SkippedCreate) {
		return stages.SourceNotCreated
	}
	if _, failed := rooms.FailureOf(u); failed {
		return stages.SourceFailed
	}
	if made, ok := rooms.Results.Lookup(u); ok {
		if _, _, found := made.Outputs.FindUnknown(); found {
			return stages.UnknownOutputs
		}
	}
	return stages.UnknownSource
}

// KnownOutputs returns outputs as they may be recorded. An output that is unknown, in whole or in part, keeps its last known value,
// or is left out if it has none. It returns the names of both. References to resources that are not created are unknown, too.
func (rooms *Rooms) KnownOutputs(outputs, last property.Map) (known property.Map, kept, dropped []string) {
	return outputs.ReplaceReferences(func(ref property.Reference) (property.Value, bool) {
		return property.Computed(), rooms.Decisions.Has(ref.URN, SkippedCreate)
	}).KnownOr(last)
}

// ViewsOf returns the views that the resource of a step has before the step, those of an old copy for that old copy.
func (rooms *Rooms) ViewsOf(owner *stages.Decision) []*state.Resource {
	if owner.Old == nil {
		return rooms.Results.ViewsOf(owner.URN)
	}
	all := rooms.Results.ViewsOf(owner.URN)
	if owner.Old.URN != owner.URN {
		all = append(rooms.Results.ViewsOf(owner.Old.URN), all...)
	}
	return slices.DeleteFunc(all, func(v *state.Resource) bool {
		return v.Delete != owner.Old.Delete || v.Delete && rooms.Results.isOfAnother(v, owner.Old)
	})
}

// liveViewsOf returns the views of a recorded state that no replacement has marked.
func (rooms *Rooms) liveViewsOf(owner *state.Resource) []*state.Resource {
	return slices.DeleteFunc(rooms.Results.ViewsOf(owner.URN), func(v *state.Resource) bool { return v.Delete })
}
