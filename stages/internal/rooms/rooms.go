package rooms

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
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
	Migrations         *Migrations
	Progress           *Progress
	InterruptedCreates *InterruptedCreates
	Failures           *Failures
	Ancestors          *Ancestors // nil until the base is made
	Tasks              TaskIDs

	Mode            stages.Mode // what is done with declared resources
	Targeting       stages.Targeting
	RefreshEach     bool
	RefreshOnly     map[urn.URN]bool // that of [stages.Settings]
	ContinueOnError bool
	IgnoreProtect   bool
	// ReplaceDependsOn is that of [stages.Settings].
	ReplaceDependsOn bool
	root             urn.URN // of the root stack

	// vanished are the recorded URNs whose objects a refresh did not find.
	vanished map[urn.URN]bool
	isOpen   bool
}

// Recorded is the recorded state from which the base is made.
type Recorded struct {
	Snapshot *state.Snapshot
	// Vanished are the URNs whose objects a refresh did not find.
	Vanished map[urn.URN]bool
	// Again are the resources of pending creates that may be created again, whatever the pending create has made.
	Again map[*state.Resource]bool
}

// Writers write the rooms. Each goes to the constructor of one part of the run.
type Writers struct {
	Base       *BaseWriter
	Names      *NamesWriter
	Decisions  *DecisionsWriter
	Omissions  *OmissionsWriter
	Migrations *MigrationsWriter
	Outputs    *OutputsWriter
	Reread     *ProgressWriter // the milestones that registrations pass
	Decided    *ProgressWriter
	Over       *ProgressWriter
	Steps      StepWriters
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
		Mode: s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, RefreshOnly: s.RefreshOnly, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		ReplaceDependsOn: s.ReplaceDependsOn,
		root:             urn.RootStack(s.Info.Stack, s.Info.Project),
	}
	var w Writers
	b.Names = newNames(b.Base, s.Targeting)
	b.Decisions, w.Decisions = newDecisions(s.Mode)
	b.Results, w.Steps.Results = newResults()
	b.Outputs, w.Steps.Outputs, w.Outputs = newOutputs()
	b.Omissions, w.Omissions = newOmissions(b)
	b.Migrations, w.Migrations = newMigrations(b)
	b.Failures = &Failures{b}
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
	rooms.Base, rooms.vanished = NewBase(was.Snapshot.Resources), was.Vanished
	rooms.Base.Pending = was.Snapshot.Pending
	rooms.Names.open(rooms.Base)
	rooms.Ancestors = &Ancestors{base: rooms.Base, names: rooms.Names, progress: rooms.Progress, noOpenAncestor: make([]atomic.Int64, len(was.Snapshot.Resources))}
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

// IncludesRecorded reports whether a recorded state is part of the operation, by the targets and excludes up to the registration that is decided:
// later ones may have been looked up already. Unlike the check of a registration, it adds no target or exclude.
func (rooms *Rooms) IncludesRecorded(s *state.Resource, upTo int) bool {
	return rooms.Names.includes(s, upTo)
}

// isToRead reports whether a refresh of what is part of the operation reads a recorded state.
func (rooms *Rooms) isToRead(s *state.Resource) bool {
	return rooms.RefreshOnly == nil || rooms.RefreshOnly[s.URN] || s.RefreshBeforeUpdate
}

// Refreshable returns a function that reports whether a refresh reads a recorded state: the targets and, with TargetDependents,
// their dependents; or all but the excludes (steps.md 7.1); and of these those of RefreshOnly. It must be called with every state, in the order of
// the base.
func (rooms *Rooms) Refreshable() func(*state.Resource) bool {
	grown := newSelection(rooms.Targeting)
	return func(s *state.Resource) bool {
		included := grown.includes(s, graph.Provider, 0)
		if grown.leads(included) {
			grown.added[s.URN] = 0
		}
		return included && rooms.isToRead(s)
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
	maps.DeleteFunc(news, func(u urn.URN, s *state.Resource) bool {
		return s.External || rooms.Names.NewNameOf(u) != u // carried over, and not managed or then renamed
	})
	urns := slices.Sorted(maps.Keys(news))
	out := make([]*state.Resource, 0, len(urns))
	for _, i := range inOrder(rooms.Base, urns, func(i int) *state.Resource { return news[urns[i]] }) {
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

// TakeOver makes the recorded old copies of an imported object retain it (decision 0236): their deletes, in this run or a later one, leave
// the object to the resource that has imported it.
func (rooms *Rooms) TakeOver(imported *state.Resource, c *state.Change) {
	for _, old := range rooms.Base.OldCopiesOf(imported) {
		if now := rooms.Results.Current(old); now != nil && !now.RetainOnDelete {
			marked := now.Clone()
			marked.RetainOnDelete = true
			c.Replace = append(c.Replace, state.Replacement{Old: now, New: marked})
		}
	}
}

// IsTakenOver reports whether an import of this run has made a recorded old copy retain its object.
func (rooms *Rooms) IsTakenOver(old *state.Resource) bool {
	now := rooms.Results.Current(old)
	return old.Delete && now != nil && now.RetainOnDelete && !old.RetainOnDelete
}

// Live yields the present states of managed objects that are not old copies, each once, in no order.
func (rooms *Rooms) Live() iter.Seq[*state.Resource] {
	return func(yield func(*state.Resource) bool) {
		isLive := func(res *state.Resource) bool {
			return res != nil && res.Custom && !res.External && !res.Delete && !res.PendingReplacement
		}
		made := rooms.Results.all()
		for _, res := range made {
			if isLive(res) && !yield(res) {
				return
			}
		}
		for _, res := range rooms.Base.Resources {
			if now := rooms.Results.Current(res); isLive(now) && made[now.URN] != now && !yield(now) {
				return
			}
		}
	}
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

// isUnmade reports whether a registration failed, was skipped or was omitted, and nothing of its name exists.
func (rooms *Rooms) isUnmade(u urn.URN) bool {
	if _, failed := rooms.Failures.Of(u); !failed {
		return false
	}
	if _, made := rooms.Results.Lookup(u); made {
		return false
	}
	return rooms.Results.Current(rooms.Base.Olds[u]) == nil
}

// RecordedOutputs returns the outputs of a URN as they were before the run, empty ones if it is not recorded.
func (rooms *Rooms) RecordedOutputs(u urn.URN) property.Map {
	if old := rooms.Base.Olds[u]; old != nil {
		return old.Outputs
	}
	return property.Map{}
}

// ViewsOf returns the views that the resource of a step has before the step, those of an old copy for that old copy. A step that deletes an object early
// has the state before its replacement, which is an old copy by now.
func (rooms *Rooms) ViewsOf(owner *stages.Decision) []*state.Resource {
	if owner.Old == nil {
		return rooms.Results.ViewsOf(owner.URN)
	}
	old := owner.Old
	if now := rooms.Results.Current(old); now != nil {
		old = now
	}
	all := rooms.Results.ViewsOf(owner.URN)
	if owner.Old.URN != owner.URN {
		all = append(rooms.Results.ViewsOf(owner.Old.URN), all...)
	}
	return slices.DeleteFunc(all, func(v *state.Resource) bool {
		return v.Delete != old.Delete || v.Delete && rooms.Results.isOfAnother(v, old)
	})
}

// liveViewsOf returns the views of a recorded state that no replacement has marked.
func (rooms *Rooms) liveViewsOf(owner *state.Resource) []*state.Resource {
	return slices.DeleteFunc(rooms.Results.ViewsOf(owner.URN), func(v *state.Resource) bool { return v.Delete })
}

// CheckReferences refuses a registration or a read whose state could not be recorded, before anything is made for it: one that refers to
// itself, or to a resource that is neither recorded nor registered before it (steps.md 13). Whether registrations with higher numbers have come by
// now does not count.
func (rooms *Rooms) CheckReferences(l stages.Located) error {
	wanted := state.Resource{}
	switch {
	case l.Goal != nil:
		g := l.Goal
		wanted.Dependencies, wanted.PropertyDependencies, wanted.DeletedWith, wanted.ReplaceWith = g.Dependencies, g.PropertyDependencies,
			g.DeletedWith, g.ReplaceWith
	case l.Read != nil:
		wanted.Dependencies = l.Read.Dependencies
	}
	for ref := range wanted.References() {
		switch {
		case ref.URN == l.URN || ref.URN == l.Alias:
			return fmt.Errorf("%v cannot %s itself%s", l.URN, relation(ref.Kind), ofProperty(ref))
		case !rooms.isKnownBefore(ref.URN, l.Seq):
			return fmt.Errorf("%v cannot %s %v%s: the program has not registered that, and it is not in the state of the stack",
				l.URN, relation(ref.Kind), ref.URN, ofProperty(ref))
		}
	}
	return nil
}

// isKnownBefore reports whether a URN is that of a recorded state, or of a registration with a lower number.
func (rooms *Rooms) isKnownBefore(u urn.URN, seq int) bool {
	if by, ok := rooms.Names.SeenBy(u); ok && by < seq || rooms.Names.IsKept(u) || len(rooms.Base.All[u]) > 0 {
		return true
	}
	if _, failed := rooms.Failures.Of(u); failed {
		return true
	}
	_, isView := rooms.Names.ownerOf(u)
	return isView
}
