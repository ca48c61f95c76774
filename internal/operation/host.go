package operation

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/builtin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// host returns a host that serves the package "pulumi" itself, and everything else through the caller's host, which may evaluate components.
func (s *resolved) host() providers.Host {
	o := builtin.Options{
		StackOutputs: s.stackOutputs(),
		Warn:         s.opened.events.warn,
		Resource: func(u urn.URN) (builtin.Resource, bool) {
			r, ok := s.run.Find(u)
			if !ok {
				return builtin.Resource{}, false
			}
			return builtinResource(r), true
		},
	}
	if s.opened.settings.StackResources != nil {
		o.StackResources = func(ctx context.Context, name string) ([]builtin.Resource, error) {
			all, err := s.opened.settings.StackResources(ctx, name)
			out := make([]builtin.Resource, len(all))
			for i, r := range all {
				out[i] = builtinResource(r)
			}
			return out, err
		}
	}
	next := s.opened.settings.Providers
	if c, evaluates := next.(source.ComponentServer); evaluates {
		next = c.ServeComponents(next, source.Project{Directory: s.opened.settings.Stages.Directory, Root: s.opened.settings.Root}, s.monitor)
	}
	return s.opened.events.masks.host(builtin.Host(o, next), s.opened.settings.Log)
}

// stackOutputs returns a function that reads the outputs of other stacks. In a preview, outputs that only an operation produces are
// unknown. In an update, nothing can be made from unknown outputs.
func (s *resolved) stackOutputs() func(context.Context, string) (property.Map, error) {
	if s.opened.settings.StackOutputs == nil || s.opened.settings.Stages.Info.DryRun {
		return s.opened.settings.StackOutputs
	}
	return func(ctx context.Context, name string) (property.Map, error) {
		outputs, err := s.opened.settings.StackOutputs(ctx, name)
		if err != nil || outputs.IsKnown() {
			return outputs, err
		}
		all := outputs.Mutable()
		for output, v := range all {
			all[output] = v.ReplaceUnknowns(func() property.Value {
				return property.Unavailable(fmt.Sprintf("the output %q of the stack %s is not known: the state has only the mark of an unknown value; "+
					"update that stack", output, name))
			})
		}
		return property.NewMap(all), nil
	}
}

func builtinResource(r *state.Resource) builtin.Resource {
	return builtin.Resource{URN: r.URN, Type: r.Type, ID: r.ID, Provider: r.Provider, Outputs: r.Outputs}
}
