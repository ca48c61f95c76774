package rooms

import (
	"sync/atomic"

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
