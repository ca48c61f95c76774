package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// tokens has the calls during which providers in other processes may publish views.
type tokens struct {
	mu    sync.Mutex
	known map[string]*publication
}

// PublishViews publishes view steps for the call of a token.
func (ex *Executor) PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error {
	p, ok := ex.tokens.find(token)
	if !ok {
		return &unknownTokenError{token}
	}
	return p.Publish(ctx, steps...)
}

type unknownTokenError struct{ token string }

func (e *unknownTokenError) Error() string { return fmt.Sprintf("token %s not found", e.token) }

var errCallOver = errors.New("the call for which views could be published is over")

// publication has the view steps that a provider publishes for one resource during one call: the Status of its request. The steps
// are shown and recorded as begun when they are published, in the order of the provider, and executed after the step of the
// resource itself.
type publication struct {
	executor *Executor
	owner    *stages.Decision
	refresh  bool
	Olds     []*state.Resource // the views before the call

	mu    sync.Mutex // guards the rest
	token string
	over  bool
	steps []*InProgress
	// live are the views after the steps so far; replaced are those that wait for their delete, and gone those that have been
	// deleted.
	live, replaced, gone map[ViewName]*state.Resource
}

// ViewName identifies a view among those of one resource. It is not the URN, which changes when the resource is renamed.
type ViewName struct {
	typ  urn.Type
	name string
}

func NameOfView(v *state.Resource) ViewName { return ViewName{v.Type, v.URN.Name()} }

// PublicationFor makes the Status of the calls of one step.
func (ex *Executor) PublicationFor(owner *stages.Decision, refresh bool) *publication {
	return &publication{executor: ex, owner: owner, refresh: refresh, Olds: ex.Rooms.ViewsOf(owner)}
}

// OldViews returns the views for the request to the provider.
func (p *publication) OldViews() []providers.View {
	var out []providers.View
	for _, v := range p.Olds {
		view := providers.View{Type: v.Type, Name: v.URN.Name(), Inputs: v.Inputs, Outputs: v.Outputs}
		if v.Parent != "" && v.Parent != v.ViewOf {
			view.ParentType, view.ParentName = v.Parent.Type(), v.Parent.Name()
		}
		out = append(out, view)
	}
	return out
}

// Token returns a token for the call. The first call starts the server that serves it.
func (p *publication) Token() (providers.StatusToken, error) {
	if p.executor.MonitorAddress == nil {
		return providers.StatusToken{}, nil
	}
	address, err := p.executor.MonitorAddress()
	if err != nil {
		return providers.StatusToken{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" && !p.over {
		p.token = uuid.NewString()
		p.executor.tokens.add(p.token, p)
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

// Close ends the time in which views may be published, and returns the steps in the order of their publication.
func (p *publication) Close() []*InProgress {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.token != "" {
		p.executor.tokens.remove(p.token)
	}
	return p.steps
}

// Publish accepts steps: all or none.
func (p *publication) Publish(_ context.Context, list ...providers.ViewStep) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return errCallOver
	}
	if p.live == nil {
		p.live, p.replaced, p.gone = map[ViewName]*state.Resource{}, map[ViewName]*state.Resource{}, map[ViewName]*state.Resource{}
		for _, v := range p.Olds {
			p.live[NameOfView(v)] = v
		}
	}
	batch := &viewBatch{publication: p, live: maps.Clone(p.live), replaced: maps.Clone(p.replaced), gone: maps.Clone(p.gone)}
	for i, v := range list {
		if err := batch.add(v); err != nil {
			return &stages.InvalidRequestError{Err: fmt.Errorf("step %d of the views of %s: %w", i+1, p.owner.URN, err)}
		}
	}
	p.live, p.replaced, p.gone = batch.live, batch.replaced, batch.gone
	for _, d := range batch.steps {
		s := &InProgress{Decision: d}
		if err := p.executor.start(s); err != nil {
			return err
		}
		p.steps = append(p.steps, s)
	}
	return nil
}
