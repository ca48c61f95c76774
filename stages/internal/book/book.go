package book

import (
	"sync/atomic"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Book holds the rooms of a run: what is recorded, which names mean what, what was decided about each of them, and what has become of it. It is
// what all stages may read. Each room has a lock of its own, which is never held across a call of another room. [Writers] write the rooms.
type Book struct {
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

	Mode            stages.Mode // what becomes of what is declared
	Targeting       stages.Targeting
	RefreshEach     bool
	ContinueOnError bool
	IgnoreProtect   bool
	root            urn.URN // of the root stack

	// vanished are the recorded URNs that a refresh has not found any more.
	vanished map[urn.URN]bool
	isOpen   bool
}

// Recorded is what a book is opened with.
type Recorded struct {
	*state.Snapshot
	// Vanished are the URNs that a refresh has not found any more.
	Vanished map[urn.URN]bool
	// Again are the resources among the pending creates that may be created once more, whatever has been made.
	Again map[*state.Resource]bool
}

// Writers write the rooms of a book. Each goes to the constructor of one part of the run.
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

// StepWriters write the rooms in which the steps that were taken leave their results.
type StepWriters struct {
	Results            *ResultsWriter
	Outcomes           *OutcomesWriter
	Outputs            *OutputsOpener
	ViewNames          *ViewNamesWriter
	InterruptedCreates *InterruptedCreatesWriter
}

// NewBook returns the book of a run with an empty base, and its writers.
func NewBook(s stages.Settings) (*Book, Writers) {
	outcomes, writes := newOutcomes()
	return NewDraft(s, outcomes, writes)
}

// NewDraft is [NewBook] for what a run does before its base is made. The outcomes are those of the book of the run.
func NewDraft(s stages.Settings, outcomes *Outcomes, writes *OutcomesWriter) (*Book, Writers) {
	b := &Book{
		Base: &Base{}, Outcomes: outcomes, Progress: newProgress(),
		InterruptedCreates: &InterruptedCreates{ByURN: map[urn.URN]*stages.InterruptedCreate{}, creates: map[urn.URN][]*state.Resource{}},
		Mode:               s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		root: urn.RootStack(s.Info.Stack, s.Info.Project),
	}
	var w Writers
	b.Names = newNames(b.Base, s.Targeting)
	b.Decisions, w.Decisions = newDecisions(s.Mode)
	b.Results, w.Steps.Results = newResults()
	b.Outputs, w.Steps.Outputs, w.Outputs = newOutputs()
	b.Omissions, w.Omissions = newOmissions(b)
	w.Base = &BaseWriter{book: b, results: w.Steps.Results}
	w.Names = &NamesWriter{book: b, names: b.Names}
	w.Reread, w.Decided, w.Over = &ProgressWriter{b.Progress, Reread}, &ProgressWriter{b.Progress, Decided}, &ProgressWriter{b.Progress, Over}
	w.Steps.Outcomes, w.Steps.ViewNames = writes, &ViewNamesWriter{b.Names}
	w.Steps.InterruptedCreates = &InterruptedCreatesWriter{b.InterruptedCreates}
	return b, w
}

// BaseWriter makes the base of a book.
type BaseWriter struct {
	book    *Book
	results *ResultsWriter
}

// Open makes the base, which does not change afterwards. It is called once, before anything is looked up.
func (w *BaseWriter) Open(was Recorded) {
	book := w.book
	if book.isOpen {
		panic("book: the base is made once")
	}
	book.isOpen = true
	book.Base, book.vanished = NewBase(was.Resources), was.Vanished
	book.Names.open(book.Base)
	book.Ancestors = &Ancestors{base: book.Base, names: book.Names, progress: book.Progress, noOpenAncestor: make([]atomic.Int64, len(was.Resources))}
	book.Decisions.base = book.Base
	w.results.addViews(book.Base.Resources)
	book.InterruptedCreates.open(was, book.Base)
}

// IsOpen reports whether the base has been made.
func (book *Book) IsOpen() bool { return book.isOpen }

// HasVanished reports whether a refresh did not find the object of a recorded URN any more.
func (book *Book) HasVanished(u urn.URN) bool { return book.vanished[u] }
