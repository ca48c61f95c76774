package sluice

import (
	"context"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/builtin"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// withBuiltin serves the package "pulumi" in process and everything else through the caller's host.
func withBuiltin(s *session) providers.Host {
	o := builtin.Options{
		StackOutputs: s.options.StackOutputs,
		Warn:         s.warn,
		Resource: func(u urn.URN) (builtin.Resource, bool) {
			r, ok := s.deployment.Lookup(u)
			if !ok {
				return builtin.Resource{}, false
			}
			return builtinResource(r), true
		},
	}
	if s.options.StackResources != nil {
		o.StackResources = func(ctx context.Context, name string) ([]builtin.Resource, error) {
			all, err := s.options.StackResources(ctx, name)
			out := make([]builtin.Resource, len(all))
			for i, r := range all {
				out[i] = builtinResource(r)
			}
			return out, err
		}
	}
	return builtin.Host(o, s.options.Providers)
}

func builtinResource(r *state.Resource) builtin.Resource {
	return builtin.Resource{URN: r.URN, Type: r.Type, ID: r.ID, Provider: r.Provider, Outputs: r.Outputs}
}
