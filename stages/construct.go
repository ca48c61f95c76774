package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// construct has a provider make a remote component (steps.md 10.1). The component and its children come back through the
// monitor as registrations of their own, so this runs outside every pool and holds no lock.
func (c *completion) construct(ctx context.Context, g *Goal) error {
	q := c.question
	p, err := c.remoteProvider(g.Provider, string(g.Type))
	if err != nil {
		q.Settle(err)
		return nil
	}
	if g.ExtensionRef != "" {
		if err := c.extensions.apply(ctx, p, g.Provider, g.ExtensionRef); err != nil {
			return c.notConstructed(g, err)
		}
	}
	d, err := c.deployment()
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(c.providers) {
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
		deps[name] = sortedSet(append(deps[name], ds...))
	}
	c.constructed(res.URN)
	q.answer(&RegisterReply{URN: res.URN, Outputs: res.Outputs.DowngradeOutputs(), PropertyDependencies: deps})
	return nil
}

// constructed takes the goal over that the component has by its own registration, which its provider has made: it is that one
// which children inherit from and whose provider serves methods (steps.md 1.3, 10.2).
func (c *completion) constructed(u urn.URN) {
	var goal *Goal
	if inner := c.families.of(u); inner != nil {
		goal = inner.goal
	}
	c.families.adopt(c.question, goal)
}

// notConstructed stops the run, unless it has stopped already and the error is a consequence.
func (c *completion) notConstructed(g *Goal, err error) error {
	q := c.question
	if c.IsHalted() {
		q.Settle(ErrShutDown)
		return nil
	}
	c.diagnose("", Error, codeInvalidResource, fmt.Sprintf("%v resource '%v' has a problem: %v", g.Type, g.Name, err))
	l := Located{Registered: Registered{Question: q, Goal: g}}
	return c.bailQuietly(l, fmt.Errorf("constructing %v %q: %w", g.Type, g.Name, err))
}

// constructUnknown registers only the component itself: its provider is not configured in this preview (protocol.md 3.2).
func (c *completion) constructUnknown(ctx context.Context, g *Goal) error {
	reply, err := c.monitor.Register(ctx, &RegisterRequest{Type: g.Type, Name: g.Name, Parent: g.Parent, SupportsResultReporting: true})
	if err != nil {
		c.question.Settle(err)
		return nil
	}
	c.constructed(reply.URN)
	c.question.answer(&RegisterReply{URN: reply.URN, Outputs: property.Map{}})
	return nil
}

// remoteProvider finds a provider that a program named for a construct, a call or an invoke.
func (r *access) remoteProvider(reference, what string) (providers.Provider, error) {
	ref, err := urn.ParseProviderRef(reference)
	if err != nil {
		return nil, invalid("bad provider reference '%v' for '%v': %w", reference, what, err)
	}
	if pkg, denied := ref.Denied(); denied {
		return nil, fmt.Errorf(deniedText, pkg, what)
	}
	p, ok := r.Registry.Lookup(ref)
	if !ok {
		return nil, fmt.Errorf("unknown provider '%v'", reference)
	}
	return p, nil
}

// deployment describes the run to a provider that calls back.
func (r *admission) deployment() (providers.Deployment, error) {
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
