package operation

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// snippets records into another recorder, and knows which snippets have resources: a destroy removes those that have none any more.
type snippets struct {
	recorder state.Recorder
	destroys bool
	all      bool // the destroy is of everything
	listed   []state.Snippet

	mu   sync.Mutex                 // guards the fields below
	had  map[string]bool            // the UUIDs of those that had resources
	live map[*state.Resource]string // the UUIDs of those of recorded resources
	open map[*state.Resource]string // those of interrupted creates
}

func newSnippets(inner state.Recorder, o *opened) *snippets {
	s := &snippets{
		recorder: inner, destroys: o.settings.Stages.Mode == stages.ModeDestroy, listed: state.ReadSnippets(o.base),
		all: !o.settings.Stages.Targeting.IsPartial(), had: map[string]bool{},
	}
	s.reset(o.base)
	return s
}

// reset replaces what is known by what a base says.
func (s *snippets) reset(base *state.Snapshot) {
	s.live, s.open = map[*state.Resource]string{}, map[*state.Resource]string{}
	for _, r := range base.Resources {
		s.add(r)
	}
	for _, p := range base.Pending {
		if id := p.Resource.SnippetID; p.Type == state.Creating && id != "" {
			s.open[p.Resource], s.had[id] = id, true
		}
	}
}

func (s *snippets) add(r *state.Resource) {
	if r != nil && r.SnippetID != "" {
		s.live[r], s.had[r.SnippetID] = r.SnippetID, true
	}
}

var _ state.Recorder = (*snippets)(nil)

// Begin implements [state.Recorder].
func (s *snippets) Begin(ctx context.Context, op state.Pending) error {
	return s.recorder.Begin(ctx, op)
}

// End implements [state.Recorder].
func (s *snippets) End(ctx context.Context, c state.Change) error {
	if err := s.recorder.End(ctx, c); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c.Begun)
	for _, r := range c.Remove {
		delete(s.live, r)
	}
	for _, p := range c.Replace {
		delete(s.live, p.Old)
		s.add(p.New)
	}
	s.add(c.Add)
	return nil
}

// Rebase implements [state.Recorder].
func (s *snippets) Rebase(ctx context.Context, base *state.Snapshot) error {
	if err := s.recorder.Rebase(ctx, base); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset(base)
	return nil
}

// Snapshot implements [state.Recorder].
func (s *snippets) Snapshot() (*state.Snapshot, error) { return s.recorder.Snapshot() }

// Close implements [state.Recorder].
func (s *snippets) Close(ctx context.Context) error { return s.recorder.Close(ctx) }

// drop removes the snippets that a destroy has left without resources. A destroy of some resources removes only those that had some.
func (s *snippets) drop(ctx context.Context) error {
	if s == nil || !s.destroys {
		return nil
	}
	s.mu.Lock()
	used := map[string]bool{}
	for _, of := range []map[*state.Resource]string{s.live, s.open} {
		for _, uuid := range of {
			used[uuid] = true
		}
	}
	var gone []string
	for _, one := range s.listed {
		if !used[one.UUID] && (s.all || s.had[one.UUID]) {
			gone = append(gone, one.UUID)
		}
	}
	s.mu.Unlock()
	if len(gone) == 0 {
		return nil
	}
	return s.recorder.End(ctx, state.Change{DropSnippets: gone})
}
