package requests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Construct makes a provider create a remote component (steps.md 10.1). The component and its children come back through the
// monitor as registrations of their own, so this runs outside every pool and holds no lock.
func (c *Completion) Construct(ctx context.Context, g *stages.Goal) error {
	q := c.PendingReply
	p, err := c.Admission.access.RemoteProvider(g.Provider, string(g.Type))
	if err != nil {
		q.Reject(err)
		return nil
	}
	if err := available(g.Inputs); err != nil {
		return c.notConstructed(g, err)
	}
	if g.ExtensionRef != "" {
		if err := c.Admission.access.Extensions.Apply(ctx, p, g.ExtensionRef); err != nil {
			return c.notConstructed(g, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.providers)) {
		if c.providers[name] == "" {
			delete(c.providers, name)
		}
	}
	res, err := p.Construct(ctx, providers.ConstructRequest{
		Deployment: c.Admission.deployment(), Type: g.Type, Name: g.Name, Parent: g.Parent, Inputs: g.Inputs, InputDependencies: g.PropertyDependencies,
		Providers: c.providers, Dependencies: g.Dependencies, Protect: g.Protect, Aliases: g.Aliases,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		CustomTimeouts:          providers.Timeouts(g.CustomTimeouts), DeletedWith: g.DeletedWith, DeleteBeforeReplace: g.DeleteBeforeReplace,
		IgnoreChanges: g.IgnoreChanges, ReplaceOnChanges: g.ReplaceOnChanges, RetainOnDelete: g.RetainOnDelete,
		ReplaceWith: g.ReplaceWith, ReplacementTrigger: g.ReplacementTrigger, ResourceHooks: g.ResourceHooks,
	})
	if errors.Is(err, providers.ErrConfigurationUnknown) {
		return c.constructUnknown(ctx, g)
	}
	if err != nil {
		return c.notConstructed(g, err)
	}
	deps := map[string][]urn.URN{}
	for name, ds := range res.OutputDependency {
		deps[name] = ds
	}
	for name, ds := range res.Outputs.OutputDependencies() {
		deps[name] = urn.SortedSet(append(deps[name], ds...))
	}
	c.constructed(res.URN)
	q.Answer(&stages.RegisterReply{URN: res.URN, Outputs: res.Outputs.DowngradeOutputs(), PropertyDependencies: deps})
	return nil
}

// constructed adopts the goal of the registration that the component's provider has made: children inherit from it, and its
// provider serves methods (steps.md 1.3, 10.2).
func (c *Completion) constructed(u urn.URN) {
	var of *own
	if inner := c.Admission.Families.Of(u); inner != nil {
		of = inner.Own
	}
	c.Admission.Families.setOwn(c.PendingReply, of)
}

// notConstructed stops the run, unless it has stopped already and the error is a consequence.
func (c *Completion) notConstructed(g *stages.Goal, err error) error {
	q := c.PendingReply
	if c.Admission.control.IsHalted() {
		q.Reject(stages.ErrShutDown)
		return nil
	}
	l := stages.Located{Registered: stages.Registered{PendingReply: q, Goal: g}}
	return c.Admission.control.Bail(l, stages.CodeInvalidResource, fmt.Errorf("%v resource '%v' has a problem: %w", g.Type, g.Name, err))
}

// constructUnknown registers only the component itself: its provider is not configured in this preview (protocol.md 3.2).
func (c *Completion) constructUnknown(ctx context.Context, g *stages.Goal) error {
	reply, err := c.Admission.monitor.Register(ctx, &stages.RegisterRequest{Type: g.Type, Name: g.Name, Parent: g.Parent, SupportsResultReporting: true})
	if err != nil {
		c.PendingReply.Reject(err)
		return nil
	}
	c.constructed(reply.URN)
	c.PendingReply.Answer(&stages.RegisterReply{URN: reply.URN, Outputs: property.Map{}})
	return nil
}

// deployment describes the run for providers that call back.
func (a *Admission) deployment() providers.Deployment {
	return providers.Deployment{
		Project: a.control.Info.Project, Stack: a.control.Info.Stack, Organization: a.control.Info.Organization, Config: a.control.Info.Config,
		ConfigSecretKeys: a.control.Info.ConfigSecretKeys, DryRun: a.control.DryRun(), Parallel: a.control.Info.Parallel,
		MonitorAddress: a.MonitorAddress,
	}
}
