package step

import (
	"context"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
)

// Views takes in the views that providers publish during a call, and applies their steps.
type Views struct {
	control        *control.Control
	rooms          *rooms.Rooms
	reporter       *Reporter
	tokens         *tokens
	monitorAddress func() (string, error) // of the server for providers in other processes; nil if there is none
}

// Publish publishes view steps for the call of a token.
func (vs *Views) Publish(ctx context.Context, token string, steps []providers.ViewStep) error {
	p, ok := vs.tokens.find(token)
	if !ok {
		return &unknownTokenError{token}
	}
	return p.Publish(ctx, steps...)
}

// PublicationFor makes the Status of the calls of one step.
func (vs *Views) PublicationFor(owner *stages.Decision, refresh bool) *publication {
	return &publication{views: vs, owner: owner, refresh: refresh, Olds: vs.rooms.ViewsOf(owner)}
}

// Apply returns the changes of a view step.
func (vs *Views) Apply(s *InProgress) applied {
	d := s.Decision
	v := d.View
	if v.Err != nil && v.Status != providers.ViewPartialFailure {
		return applied{Err: v.Err, status: v.Status}
	}
	a := applied{Err: v.Err, status: v.Status}
	switch {
	case v.Op == stages.OpReplace:
		a.Unrecorded = true
		return a
	case stages.Removes(v.Op):
		a.Change.Remove = vs.rooms.Present(d.Old)
	case stages.Replacing(v.Op) && d.Old != nil:
		a.Final = d.New
		vs.rooms.Supersede(d.Old, d.New, &a.Change)
	default:
		a.Final = d.New
		if d.Old != nil {
			a.Change.Remove = vs.rooms.Present(d.Old)
			a.Change.Elide = v.Op == stages.OpSame && !state.MustWrite(d.Old, d.New)
		}
	}
	switch {
	case s.orphaned:
		a.Change, a.Final = state.Change{}, nil
	case a.Final != nil:
		vs.replaceSameName(d, &a.Change)
	}
	return a
}

// replaceSameName removes a view of the same name: a provider that creates a view without having deleted the former one replaces
// it.
func (vs *Views) replaceSameName(s *stages.Decision, c *state.Change) {
	for _, v := range vs.rooms.Results.ViewsOf(s.View.Owner) {
		known := slices.Contains(c.Remove, v) || slices.ContainsFunc(c.Replace, func(p state.Replacement) bool { return p.Old == v })
		if v.URN == s.URN && !v.Delete && !known && v != s.New {
			c.Remove = append(c.Remove, v)
		}
	}
}

// tokens has the calls during which providers in other processes may publish views.
type tokens struct {
	mu    sync.Mutex
	known map[string]*publication
}

func (t *tokens) add(token string, p *publication) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]*publication{}
	}
	t.known[token] = p
}

func (t *tokens) find(token string) (*publication, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.known[token]
	return p, ok
}

func (t *tokens) remove(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, token)
}
