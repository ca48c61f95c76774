package main

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// stackProgram is a program in this process that declares a stack. It registers every resource as soon as the resource
// that it depends on is registered. extra returns further inputs of resource i; it may be nil.
func stackProgram(name string, size int, extra func(i int) map[string]property.Value) source.Program {
	return source.Func(func(ctx context.Context, m stages.Monitor) error {
		urns := make([]func() (urn.URN, error), size)
		for i := range size {
			urns[i] = sync.OnceValues(func() (urn.URN, error) {
				req := &stages.RegisterRequest{
					Type: shape.Type, Name: shape.Name(i), Custom: true, SupportsResultReporting: true, Inputs: smallInputs(i, extra),
				}
				if on, ok := shape.DependencyOf(name, i); ok {
					u, err := urns[on]()
					if err != nil {
						return "", err
					}
					req.Dependencies = []urn.URN{u}
				}
				reply, err := m.Register(ctx, req)
				if err != nil {
					return "", err
				}
				return reply.URN, nil
			})
		}
		all := pool.New().WithErrors()
		for i := range size {
			all.Go(func() error {
				_, err := urns[i]()
				return err
			})
		}
		return all.Wait()
	})
}

func smallInputs(i int, extra func(i int) map[string]property.Value) property.Map {
	inputs := map[string]property.Value{
		"index": property.Number(float64(i)), "label": property.String("benchmark"), "enabled": property.Bool(true),
	}
	if extra != nil {
		for k, v := range extra(i) {
			inputs[k] = v
		}
	}
	return property.NewMap(inputs)
}
