package book

import (
	"sync/atomic"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Book is what a run knows about states: what is recorded, which names mean what, what was decided about each of them, and
// what has become of it. Each of its parts has a lock of its own.
type Book struct {
	Base               *Base
	Names              *names
	Decisions          *Decisions
	Tasks              TaskIDs
	Results            *results
	Progress           *progress
	Doubts             *doubts // nil until the base is made
	Record             *record
	InterruptedCreates *interruptedCreates

	Mode            stages.Mode // what becomes of what is declared
	Targeting       stages.Targeting
	RefreshEach     bool
	ContinueOnError bool
	IgnoreProtect   bool
	root            urn.URN // of the root stack

	// Declared are the steps of registrations whose states a destroy is to delete at its end, in the order in which they were
	// decided. Only build writes it, while the pipeline runs.
	Declared []*stages.Decision
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

// Writers are what writes the rooms of a book. Each goes to those who own the room.
type Writers struct {
	Decisions *DecisionsWriter
}

// NewBook returns a book with an empty base, and its writers. Decisions and what becomes of them go into the record, which books may share.
func NewBook(s stages.Settings, r *record) (*Book, Writers) {
	decisions, decides := newDecisions()
	b := &Book{
		Base: &Base{}, Record: r, Names: newNames(s.Targeting), Decisions: decisions, Results: newResults(), Progress: newProgress(),
		Mode: s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		root: urn.RootStack(s.Info.Stack, s.Info.Project),
	}
	b.InterruptedCreates = newInterruptedCreates(Recorded{Snapshot: &state.Snapshot{}}, b.Base)
	return b, Writers{Decisions: decides}
}

// Open makes the base, which does not change afterwards. It is called once, before anything is looked up.
func (book *Book) Open(was Recorded) {
	if book.isOpen {
		panic("book: the base is made once")
	}
	book.isOpen = true
	book.Base, book.vanished = NewBase(was.Resources), was.Vanished
	book.Names.open(book.Base)
	book.Doubts = &doubts{base: book.Base, names: book.Names, progress: book.Progress, noOpenAncestor: make([]atomic.Int64, len(was.Resources))}
	book.Decisions.base = book.Base
	book.Results.addViews(book.Base.Resources)
	book.InterruptedCreates = newInterruptedCreates(was, book.Base)
}

// IsOpen reports whether the base has been made.
func (book *Book) IsOpen() bool { return book.isOpen }

// HasVanished reports whether a refresh did not find the object of a recorded URN any more.
func (book *Book) HasVanished(u urn.URN) bool { return book.vanished[u] }
