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

type unknownTokenError struct{ token string }

func (e *unknownTokenError) Error() string { return fmt.Sprintf("token %s not found", e.token) }

var errCallOver = errors.New("the call for which views could be published is over")

// publication has the view steps that a provider publishes for one resource during one call: the Status of its request. The steps
// are shown and recorded as begun when they are published, in the order of the provider, and executed after the step of the
// resource itself.
type publication struct {
	views   *Views
	owner   *stages.Decision
	refresh bool
	Olds    []*state.Resource // the views before the call

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

// NameOfView returns the name of a view.
func NameOfView(v *state.Resource) ViewName { return ViewName{v.Type, v.URN.Name()} }

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
	if p.views.monitorAddress == nil {
		return providers.StatusToken{}, nil
	}
	address, err := p.views.monitorAddress()
	if err != nil {
		return providers.StatusToken{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" && !p.over {
		p.token = uuid.NewString()
		p.views.tokens.add(p.token, p)
	}
	return providers.StatusToken{Address: address, Token: p.token}, nil
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
		p.views.tokens.remove(p.token)
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
	batch := &viewBatch{of: p, live: maps.Clone(p.live), replaced: maps.Clone(p.replaced), gone: maps.Clone(p.gone)}
	for i, v := range list {
		if err := batch.add(v); err != nil {
			return &stages.InvalidRequestError{Err: fmt.Errorf("step %d of the views of %s: %w", i+1, p.owner.URN, err)}
		}
	}
	p.live, p.replaced, p.gone = batch.live, batch.replaced, batch.gone
	for _, d := range batch.steps {
		s := &InProgress{Decision: d}
		if err := p.views.reporter.start(s); err != nil {
			return err
		}
		p.steps = append(p.steps, s)
	}
	return nil
}
