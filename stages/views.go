package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Views takes in what providers in other processes publish about views (steps.md 9.9). A [Run] is one.
type Views interface {
	// PublishViews publishes under a token that was handed out for a call that still goes on.
	PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error
}

// tokens are the calls during which providers in other processes may publish views.
type tokens struct {
	mu    sync.Mutex
	known map[string]*publication
}

// PublishViews publishes view steps for the call that the token was made for.
func (r *Run) PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error {
	r.tokens.mu.Lock()
	p, ok := r.tokens.known[token]
	r.tokens.mu.Unlock()
	if !ok {
		return &unknownTokenError{token}
	}
	return p.Publish(ctx, steps...)
}

type unknownTokenError struct{ token string }

func (e *unknownTokenError) Error() string { return fmt.Sprintf("token %s not found", e.token) }

var errCallOver = errors.New("the call for which views could be published is over")

// publication is what a provider publishes about the views of one resource during one call: the Status of its request.
// The steps are shown and recorded as begun when they are published, in the order of the provider, and taken when the
// resource's own step has been.
type publication struct {
	run     *Run
	owner   *Decision
	refresh bool
	olds    []*state.Resource // the views that there were before the call

	mu    sync.Mutex // guards the rest
	token string
	over  bool
	steps []*taking
	// live are the views as the steps so far leave them; replaced are those that wait for their delete, and gone those that
	// have been deleted.
	live, replaced, gone map[viewName]*state.Resource
}

// viewName tells the views of one resource apart. It is not the URN: that changes when the resource is renamed.
type viewName struct {
	typ  urn.Type
	name string
}

func nameOfView(v *state.Resource) viewName { return viewName{v.Type, v.URN.Name()} }

// publicationFor makes the Status of the calls of one step.
func (r *Run) publicationFor(owner *Decision, refresh bool) *publication {
	return &publication{run: r, owner: owner, refresh: refresh, olds: r.viewsOf(owner)}
}

// oldViews are the views that the request tells the provider about.
func (p *publication) oldViews() []providers.View {
	var out []providers.View
	for _, v := range p.olds {
		view := providers.View{Type: v.Type, Name: v.URN.Name(), Inputs: v.Inputs, Outputs: v.Outputs}
		if v.Parent != "" && v.Parent != v.ViewOf {
			view.ParentType, view.ParentName = v.Parent.Type(), v.Parent.Name()
		}
		out = append(out, view)
	}
	return out
}

// Token hands out a token for the call. The server that serves it is started by the first who asks.
func (p *publication) Token() (providers.StatusToken, error) {
	if p.run.MonitorAddress == nil {
		return providers.StatusToken{}, nil
	}
	address, err := p.run.MonitorAddress()
	if err != nil {
		return providers.StatusToken{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" && !p.over {
		p.token = uuid.NewString()
		p.run.tokens.add(p.token, p)
	}
	return providers.StatusToken{Address: address, Token: p.token}, nil
}

func (t *tokens) add(token string, p *publication) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]*publication{}
	}
	t.known[token] = p
}

func (t *tokens) remove(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, token)
}

// close ends the time in which views may be published, and returns the steps in the order in which they were.
func (p *publication) close() []*taking {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.token != "" {
		p.run.tokens.remove(p.token)
	}
	return p.steps
}

// Publish takes in steps: all or none.
func (p *publication) Publish(_ context.Context, list ...providers.ViewStep) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return errCallOver
	}
	if p.live == nil {
		p.live, p.replaced, p.gone = map[viewName]*state.Resource{}, map[viewName]*state.Resource{}, map[viewName]*state.Resource{}
		for _, v := range p.olds {
			p.live[nameOfView(v)] = v
		}
	}
	batch := &viewBatch{publication: p, live: maps.Clone(p.live), replaced: maps.Clone(p.replaced), gone: maps.Clone(p.gone)}
	for i, v := range list {
		if err := batch.add(v); err != nil {
			return &InvalidRequestError{fmt.Errorf("step %d of the views of %s: %w", i+1, p.owner.URN, err)}
		}
	}
	p.live, p.replaced, p.gone = batch.live, batch.replaced, batch.gone
	for _, d := range batch.steps {
		s := &taking{Decision: d}
		if err := p.run.start(s); err != nil {
			return err
		}
		p.steps = append(p.steps, s)
	}
	return nil
}

// viewsOf returns the views that the resource of a step has before the step, those of an old copy for that old copy.
func (r *Run) viewsOf(owner *Decision) []*state.Resource {
	if owner.Old == nil {
		return r.world.viewsOf(owner.URN)
	}
	all := r.world.viewsOf(owner.URN)
	if owner.Old.URN != owner.URN {
		all = append(r.world.viewsOf(owner.Old.URN), all...)
	}
	return slices.DeleteFunc(all, func(v *state.Resource) bool {
		return v.Delete != owner.Old.Delete || v.Delete && r.world.isOfAnother(v, owner.Old)
	})
}

// liveViewsOf returns the views of a recorded state that no replacement has marked.
func (r *Run) liveViewsOf(owner *state.Resource) []*state.Resource {
	return slices.DeleteFunc(r.world.viewsOf(owner.URN), func(v *state.Resource) bool { return v.Delete })
}

// viewsOf returns the views that are recorded for a resource, those of its old copies among them.
func (w *world) viewsOf(u urn.URN) []*state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*state.Resource
	for _, v := range w.views[u] {
		if now := w.follow(v); now != nil {
			out = append(out, now)
		}
	}
	return out
}

// addViews remembers the views of a base. Their states name what they are views of by URN alone: of several copies the one
// before the view is meant, and next to it. Any other choice would do as well, if only each view belongs to one copy.
func (w *world) addViews(base []*state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views, w.copies = map[urn.URN][]*state.Resource{}, map[*state.Resource]*state.Resource{}
	type copies struct {
		of  urn.URN
		old bool
	}
	last := map[copies]*state.Resource{}
	for _, res := range base {
		if res.ViewOf != "" {
			w.views[res.ViewOf] = append(w.views[res.ViewOf], res)
			w.copies[res] = last[copies{res.ViewOf, res.Delete}]
		}
		last[copies{res.URN, res.Delete}] = res
	}
}

// isOfAnother tells whether a view is one of another copy of its resource, and that one still exists.
func (w *world) isOfAnother(v, owner *state.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.follow(w.copies[v])
	return of != nil && of != owner
}

// claimView reserves the URN of a view. A view has a URN to itself.
func (r *Run) claimView(u, owner urn.URN) error {
	n := r.names
	n.mu.Lock()
	defer n.mu.Unlock()
	other, known := n.views[u]
	_, seen := n.seen[u]
	old := r.base.olds[u]
	switch {
	case known && other != owner:
		return fmt.Errorf("%s is a view of %s already; give the view another name", u, other)
	case seen, old != nil && old.ViewOf == "":
		return fmt.Errorf("%s is a resource of the program; give the view another name", u)
	}
	n.views[u] = owner
	return nil
}

// viewNamed returns what a URN is a view of, if it is one. The names must be locked.
func (r *Run) viewNamed(u urn.URN) (owner urn.URN, ok bool) {
	if owner, ok = r.names.views[u]; ok {
		return owner, true
	}
	if old := r.base.olds[u]; old != nil && old.ViewOf != "" {
		return old.ViewOf, true
	}
	return "", false
}
