package inprocess

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// program declares a stack, and records the latency of each registration.
type program struct {
	shape   string
	size    int
	callers int
	// extra returns further inputs of resource i; nil means none.
	extra func(i int) map[string]property.Value
	// answered are the latencies of Register in the last run, 0 for what was not registered; nil means that they are not recorded.
	answered []time.Duration
}

// source returns the program. It registers every resource as soon as its dependencies are registered.
func (p *program) source() source.Program {
	return source.Func(func(ctx context.Context, m stages.Monitor) error {
		urns := make([]func() (urn.URN, error), p.size)
		for i := range p.size {
			urns[i] = sync.OnceValues(func() (urn.URN, error) { return p.register(ctx, m, urns, i) })
		}
		all := pool.New().WithErrors()
		if p.callers == 0 || p.callers >= p.size {
			for i := range p.size {
				all.Go(func() error {
					_, err := urns[i]()
					return err
				})
			}
			return all.Wait()
		}
		// Resources are registered in order, and depend only on earlier ones, so no caller waits for one that is not taken
		// yet.
		var next atomic.Int64
		for range p.callers {
			all.Go(func() error {
				for {
					i := next.Add(1) - 1
					if i >= int64(p.size) {
						return nil
					}
					if _, err := urns[i](); err != nil {
						return err
					}
				}
			})
		}
		return all.Wait()
	})
}

func (p *program) register(ctx context.Context, m stages.Monitor, urns []func() (urn.URN, error), i int) (urn.URN, error) {
	r := shape.Of(p.shape, p.size, i)
	req := &stages.RegisterRequest{Type: shape.Type, Name: shape.Name(i), Custom: true, SupportsResultReporting: true}
	if r.Component {
		req.Type, req.Custom = shape.Component, false
	} else {
		req.Inputs = p.inputs(i, r.Payload)
	}
	if r.Parent >= 0 {
		u, err := urns[r.Parent]()
		if err != nil {
			return "", err
		}
		req.Parent = u
	}
	for _, n := range r.Needs {
		u, err := urns[n]()
		if err != nil {
			return "", err
		}
		req.Dependencies = append(req.Dependencies, u)
	}
	for n := range r.Aliases {
		req.AliasSpecs = true
		req.Aliases = append(req.Aliases, urn.Alias{Name: fmt.Sprintf("former-%d-%s", n, req.Name)})
	}
	began := time.Now()
	reply, err := m.Register(ctx, req)
	if err != nil {
		return "", err
	}
	if p.answered != nil {
		p.answered[i] = time.Since(began)
	}
	if r.Component {
		return reply.URN, m.RegisterOutputs(ctx, reply.URN, property.Map{})
	}
	return reply.URN, nil
}

func (p *program) inputs(i, payload int) property.Map {
	inputs := map[string]property.Value{
		"index": property.Number(float64(i)), "label": property.String("benchmark"), "enabled": property.Bool(true),
	}
	if payload > 0 {
		inputs["text"] = property.String(strings.Repeat("0123456789", payload/10))
	}
	if p.extra != nil {
		for k, v := range p.extra(i) {
			inputs[k] = v
		}
	}
	return property.NewMap(inputs)
}
