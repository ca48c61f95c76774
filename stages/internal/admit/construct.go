package admit

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

// Construct has a provider make a remote component (steps.md 10.1). The component and its children come back through the
// monitor as registrations of their own, so this runs outside every pool and holds no lock.
func (c *Completion) Construct(ctx context.Context, g *stages.Goal) error {
	q := c.Question
	p, err := c.RemoteProvider(g.Provider, string(g.Type))
	if err != nil {
		q.Reject(err)
		return nil
	}
	if g.ExtensionRef != "" {
		if err := c.Extensions.Apply(ctx, p, g.Provider, g.ExtensionRef); err != nil {
			return c.notConstructed(g, err)
		}
	}
	d, err := c.deployment()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.providers)) {
		if c.providers[name] == "" {
			delete(c.providers, name)
		}
	}
	res, err := p.Construct(ctx, providers.ConstructRequest{
		Deployment: d, Type: g.Type, Name: g.Name, Parent: g.Parent, Inputs: g.Inputs, InputDependencies: g.PropertyDependencies,
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

// constructed takes the goal over that the component has by its own registration, which its provider has made: it is that one
// which children inherit from and whose provider serves methods (steps.md 1.3, 10.2).
func (c *Completion) constructed(u urn.URN) {
	var goal *stages.Goal
	if inner := c.Families.Of(u); inner != nil {
		goal = inner.Goal
	}
	c.Families.adopt(c.Question, goal)
}

// notConstructed stops the run, unless it has stopped already and the error is a consequence.
func (c *Completion) notConstructed(g *stages.Goal, err error) error {
	q := c.Question
	if c.IsHalted() {
		q.Reject(stages.ErrShutDown)
		return nil
	}
	c.Diagnose("", stages.Error, stages.CodeInvalidResource, fmt.Sprintf("%v resource '%v' has a problem: %v", g.Type, g.Name, err))
	l := stages.Located{Registered: stages.Registered{Question: q, Goal: g}}
	return c.Bail(l, stages.CodeShown, fmt.Errorf("constructing %v %q: %w", g.Type, g.Name, err))
}

// constructUnknown registers only the component itself: its provider is not configured in this preview (protocol.md 3.2).
func (c *Completion) constructUnknown(ctx context.Context, g *stages.Goal) error {
	reply, err := c.monitor.Register(ctx, &stages.RegisterRequest{Type: g.Type, Name: g.Name, Parent: g.Parent, SupportsResultReporting: true})
	if err != nil {
		c.Question.Reject(err)
		return nil
	}
	c.constructed(reply.URN)
	c.Question.Answer(&stages.RegisterReply{URN: reply.URN, Outputs: property.Map{}})
	return nil
}

// deployment describes the run to a provider that calls back.
func (r *Admission) deployment() (providers.Deployment, error) {
	d := providers.Deployment{
		Project: r.Info.Project, Stack: r.Info.Stack, Organization: r.Info.Organization, Config: r.Info.Config,
		ConfigSecretKeys: r.Info.ConfigSecretKeys, DryRun: r.DryRun(), Parallel: r.Info.Parallel,
	}
	if r.MonitorAddress == nil {
		return d, nil
	}
	var err error
	d.MonitorAddress, err = r.MonitorAddress()
	return d, err
}
