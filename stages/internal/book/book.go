package book

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Book is what a run knows about states: what is recorded, which names mean what, what was decided about each of them, and
// what has become of it. Each of its parts has a lock of its own.
type Book struct {
	*Base
	Names              *names
	Outcomes           *outcomes
	Results            *results
	Progress           *progress
	Record             *record
	InterruptedCreates *interruptedCreates

	Mode            stages.Mode // what becomes of what is declared
	Targeting       stages.Targeting
	RefreshEach     bool
	ContinueOnError bool
	IgnoreProtect   bool
	root            urn.URN // of the root stack
	Snapshot        *state.Snapshot

	// declared are the steps of registrations whose states a destroy is to delete at its end, in the order in which they were
	// decided. Only build writes it, while the pipeline runs.
	Declared []*stages.Decision
	// vanished are the recorded URNs that a refresh has not found any more.
	Vanished map[urn.URN]bool
}

func NewBook(s stages.Settings, r *record) *Book {
	b := &Book{
		Record: r, Mode: s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		root: urn.RootStack(s.Info.Stack, s.Info.Project), Vanished: map[urn.URN]bool{},
	}
	b.Open(s.Base)
	return b
}

func (r *Book) Open(s *state.Snapshot) {
	r.Snapshot = s
	r.Base, r.Names, r.Outcomes, r.Results, r.Progress = newBase(s.Resources), newNames(), newOutcomes(), newWorld(), newProgress()
	r.Names.grown = selection{targets: r.Targeting.Targets.Clone(), excludes: r.Targeting.Excludes.Clone()}
	r.Results.addViews(r.Resources)
	r.InterruptedCreates = NewInterruptions(s.Pending, nil, r.Base)
}
