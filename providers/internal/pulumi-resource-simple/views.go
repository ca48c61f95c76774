package main

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// show publishes a view of a resource if the configuration requires it: a view with the resource's inputs and name. inputs
// is nil for a resource that is deleted.
func (p *provider) show(ctx context.Context, s providers.Status, name string, olds []providers.View, inputs *property.Map) error {
	if s == nil || !p.settings.Load().views {
		return nil
	}
	step := providers.ViewStep{Op: providers.ViewCreate}
	if inputs != nil {
		step.New = &providers.View{Type: "simple:index:View", Name: name + "-view", Inputs: *inputs, Outputs: *inputs}
	}
	if len(olds) > 0 {
		step.Op, step.Old = providers.ViewUpdate, &olds[0]
	}
	if inputs == nil {
		step.Op = providers.ViewDelete
	}
	if step.Old == nil && step.New == nil {
		return nil
	}
	return s.Publish(ctx, step)
}
