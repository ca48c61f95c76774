package book

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Omit writes down that the program declares a resource and does not register it, because others were not made: it is skipped because of the
// first cause of those by name. It returns the URN of the resource. A refresh or a destroy makes nothing, and skips nothing.
func (book *Book) Omit(req *stages.RegisterRequest, because []urn.URN) urn.URN {
	who := urn.Subject{Stack: book.root.Stack(), Project: book.root.Project(), Type: req.Type, Name: req.Name, Parent: req.Parent}
	u := who.URN()
	if book.Mode != stages.ModeUpdate {
		return u
	}
	cause := urn.URN("")
	for _, other := range because {
		if c, failed := book.Results.FailureOf(other); failed && (cause == "" || c < cause) {
			cause = c
		}
	}
	if cause == "" || book.Names.IsSeen(u) {
		return u
	}
	if !book.Results.MarkFailed(u, cause) {
		return u // it has been said before
	}
	d := &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq}, StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: u, Type: req.Type, Reason: stages.Reason{Kind: stages.ReasonOmitted, Cause: cause},
	}, Declared: u}
	if old := book.recordedFor(who, req.Aliases); old != nil {
		book.Results.MarkFailed(old.URN, cause)
		d.Op, d.Old, d.New, d.Provider = stages.OpSame, old, old, old.Provider
	}
	book.Record.Note(d)
	return u
}

// recordedFor returns the recorded state that a registration would continue; nil if there is none, or another registration continues it.
func (book *Book) recordedFor(who urn.Subject, aliases []urn.Alias) *state.Resource {
	var found *state.Resource
	book.Names.shared(func() {
		for _, name := range append([]urn.URN{who.URN()}, urn.ExpandAliases(who, aliases, book.Names.matched)...) {
			if old := book.Base.Olds[name]; old != nil && old.ViewOf == "" {
				if id, ok := book.Base.ID(old); ok && book.Names.claims[id] == 0 {
					found = old
				}
				return
			}
		}
	})
	return found
}
