package requests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Completion turns one request into a goal.
type Completion struct {
	Admission    *Admission
	Req          *stages.RegisterRequest
	PendingReply *stages.PendingReply

	props    property.Map
	opts     stages.TransformOptions
	own      []stages.Transform
	deps     []urn.URN
	propDeps map[string][]urn.URN
	shared   bool // propDeps belongs to other registrations, too, and must not be changed
	// isTransformed is true when a transform has run: the resource's own, or one of an ancestor or of the stack.
	isTransformed bool
	provider      string
	providers     map[string]string
}

// Complete returns the goal of the registration: it applies what is inherited, the transforms and the defaults, and checks the request.
func (c *Completion) Complete(ctx context.Context) (*stages.Goal, error) {
	c.inherit()
	req := c.Req
	if (req.Custom || req.Remote) && !req.Type.IsToken() {
		return nil, stages.Invalid("type %q of resource %q is not a full type token <package>:<module>:<type>", req.Type, req.Name)
	}
	if req.Custom || req.Remote || req.Type.IsProvider() {
		if err := req.Type.CheckPackage(); err != nil {
			return nil, stages.Invalid("type %q of resource %q: %w", req.Type, req.Name, err)
		}
	}
	if len(req.EnvVarMappings) > 0 && !req.Type.IsProvider() {
		return nil, stages.Invalid("envVarMappings can only be used with provider resources")
	}
	var err error
	if c.props, err = property.HashAssets(ctx, req.Inputs, c.Admission.Directory); err != nil {
		return nil, fmt.Errorf("%s %q: %w", req.Type, req.Name, err)
	}
	c.dependencies()
	if err := c.transform(ctx); err != nil {
		return nil, err
	}
	timeouts, err := c.checkOptions()
	if err != nil {
		return nil, err
	}
	c.completeProviders()
	if err := c.chooseProvider(ctx); err != nil {
		return nil, err
	}
	c.rebuildDependencies()
	c.completeDependencies()
	if err := c.providerInputs(); err != nil {
		return nil, err
	}
	return c.goal(timeouts)
}

// checkOptions refuses options that are not well formed, before anything is done for the registration, and returns the timeouts.
func (c *Completion) checkOptions() (state.Timeouts, error) {
	for i, p := range c.opts.HideDiffs {
		if _, err := property.ParsePathStrict(p); err != nil {
			return state.Timeouts{}, stages.Invalid("hideDiffs[%d]: %w", i, err)
		}
	}
	if err := checkHooks(c.opts.Hooks); err != nil {
		return state.Timeouts{}, err
	}
	return parseTimeouts(c.opts.CustomTimeouts)
}

// checkHooks refuses types of hooks that there are not.
func checkHooks(hooks map[string][]string) error {
	if len(hooks) == 0 {
		return nil // as nearly always, and nothing is made for it
	}
	for _, kind := range slices.Sorted(maps.Keys(hooks)) {
		if !slices.Contains(stages.HookTypes(), kind) {
			return stages.Invalid("hooks: there is no type %q; the types are %s", kind, strings.Join(stages.HookTypes(), ", "))
		}
	}
	return nil
}

// inherit sets options that the request does not set to those of the parent's goal (steps.md 1.2 item 2).
func (c *Completion) inherit() {
	if c.Req.Parent == "" {
		return
	}
	f := c.Admission.Families.Of(c.Req.Parent)
	if f == nil || f.Own == nil {
		return
	}
	g := f.Own
	if g.deletedWith == "" && g.protect == nil && g.retainOnDelete == nil && g.provider == "" {
		return
	}
	inherited := *c.Req // the caller's stays as it is
	c.Req = &inherited
	req := c.Req
	if req.DeletedWith == "" {
		req.DeletedWith = g.deletedWith
	}
	if req.Protect == nil {
		req.Protect = g.protect
	}
	if req.RetainOnDelete == nil {
		req.RetainOnDelete = g.retainOnDelete
	}
	if req.Provider == "" {
		ref, err := urn.ParseProviderRef(g.provider)
		if !req.Remote && !req.Custom || err == nil && ref.Package() == req.Type.Package() {
			req.Provider = g.provider
		}
	}
}

// dependencies collects the dependencies of the request (steps.md 1.2 items 8 and 9).
func (c *Completion) dependencies() {
	c.deps = urn.SortedSet(c.Req.Dependencies)
	isGiven := len(c.Req.PropertyDependencies) > 0 || c.Req.Remote || c.Req.CarriesDependencies
	if !isGiven && len(c.deps) == 0 {
		c.propDeps, c.shared = c.Admission.monitor.independent.of(c.Req.Type, c.props), true
		return
	}
	c.propDeps = map[string][]urn.URN{}
	if !isGiven {
		for name := range c.props.All() {
			c.propDeps[name] = c.deps
		}
		return
	}
	for name, ds := range c.Req.PropertyDependencies {
		c.propDeps[name] = urn.SortedSet(ds)
	}
}

// transform runs the transforms that apply, each on the result of the one before (steps.md 1.2 item 10).
func (c *Completion) transform(ctx context.Context) error {
	req := c.Req
	if len(req.Transforms) > 0 {
		c.props = c.props.WithDependencies(c.propDeps)
	}
	c.opts = stages.TransformOptions{
		DependsOn: c.deps, Protect: req.Protect, IgnoreChanges: req.IgnoreChanges, ReplaceOnChanges: req.ReplaceOnChanges,
		Version: req.Package.Version, Aliases: nodeAliases(req), Provider: req.Provider, CustomTimeouts: req.CustomTimeouts,
		PluginDownloadURL: req.Package.DownloadURL, RetainOnDelete: req.RetainOnDelete, DeletedWith: req.DeletedWith,
		DeleteBeforeReplace: req.DeleteBeforeReplace, AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		Providers: req.Providers, PluginChecksums: req.Package.Checksums, Hooks: req.Hooks, Import: req.ImportID,
		HideDiffs: req.HideDiffs, ReplaceWith: req.ReplaceWith, ReplacementTrigger: req.ReplacementTrigger,
	}
	if req.Custom || req.Remote {
		c.opts.Provider = c.Admission.resolveProvider(req.Provider, req.Providers, req.Parent, req.Type.Package())
	}
	c.own = c.Admission.monitor.ownTransforms(req)
	all := c.Admission.monitor.transformsFor(c.own, req.Parent)
	for _, t := range all {
		out, err := t(ctx, stages.TransformInput{
			Type: req.Type, Name: req.Name, Custom: req.Custom, Parent: req.Parent, Properties: c.props, Options: c.opts,
		})
		if err != nil {
			return fmt.Errorf("invoke transform: %w", causeOf(ctx, err))
		}
		c.props, c.opts = out.Properties, out.Options
	}
	if len(all) == 0 {
		return nil
	}
	c.isTransformed = true
	props, err := property.HashAssets(ctx, c.props, c.Admission.Directory)
	c.props = props
	return err
}

// nodeAliases reads the parents of aliases as old Node.js SDKs mean them (steps.md 1.2 item 5).
func nodeAliases(req *stages.RegisterRequest) []urn.Alias {
	if req.AliasSpecs || !req.IsNodeJS {
		return req.Aliases
	}
	out := slices.Clone(req.Aliases)
	for i, a := range out {
		if a.URN != "" {
			continue
		}
		switch {
		case a.NoParent:
			out[i].NoParent = false
		case a.Parent == "":
			out[i].NoParent = true
		}
	}
	return out
}

// rebuildDependencies adds the dependencies of output values (steps.md 1.2 item 10), and those that transforms have added, of
// whatever resource. Only the resource's own transforms get properties with their dependencies, and so may remove some.
func (c *Completion) rebuildDependencies() {
	carried := c.props.OutputDependencies()
	if len(c.Req.Transforms) > 0 {
		all := slices.Clone(c.opts.DependsOn)
		c.propDeps = map[string][]urn.URN{}
		for name := range c.props.All() {
			c.propDeps[name] = urn.SortedSet(carried[name])
			all = append(all, carried[name]...)
		}
		c.deps = urn.SortedSet(all)
	} else {
		for name := range c.props.All() {
			deps, listed := c.propDeps[name] // a property without dependencies is listed, too
			more := carried[name]
			if listed && len(more) == 0 {
				continue
			}
			if len(more) > 0 {
				deps = urn.SortedSet(append(slices.Clone(deps), more...))
			}
			if c.shared {
				c.propDeps, c.shared = maps.Clone(c.propDeps), false
			}
			c.propDeps[name] = deps
		}
		if c.isTransformed {
			all := slices.Clone(c.opts.DependsOn)
			for _, deps := range c.propDeps {
				all = append(all, deps...)
			}
			c.deps = urn.SortedSet(all)
		}
	}
	if !c.Req.Remote {
		c.props = c.props.DowngradeOutputs()
	}
}

// completeDependencies gives each property without dependencies an empty list, as in states.
func (c *Completion) completeDependencies() {
	for name, deps := range c.propDeps {
		if deps == nil { // never in the map that is shared
			c.propDeps[name] = []urn.URN{}
		}
	}
}

func (c *Completion) goal(timeouts state.Timeouts) (*stages.Goal, error) {
	extension, err := c.extension()
	if err != nil {
		return nil, err
	}
	g := &stages.Goal{
		Type: c.Req.Type, Name: c.Req.Name, Custom: c.Req.Custom, Parent: c.Req.Parent, Inputs: c.props,
		Protect: c.opts.Protect, Dependencies: c.deps, PropertyDependencies: c.propDeps, Provider: c.provider,
		DeleteBeforeReplace: c.opts.DeleteBeforeReplace, IgnoreChanges: c.opts.IgnoreChanges, HideDiff: c.opts.HideDiffs,
		ReplaceOnChanges: c.opts.ReplaceOnChanges, ReplacementTrigger: c.opts.ReplacementTrigger,
		AdditionalSecretOutputs: c.opts.AdditionalSecretOutputs, Aliases: c.opts.Aliases, ImportID: c.opts.Import,
		CustomTimeouts: timeouts.Record(), RetainOnDelete: c.opts.RetainOnDelete, DeletedWith: c.opts.DeletedWith,
		ReplaceWith: c.opts.ReplaceWith, ResourceHooks: c.opts.Hooks, ExtensionRef: extension,
		SourcePosition: c.Req.SourcePosition, StackTrace: c.Req.StackTrace,
	}
	if c.Req.Ordered != nil {
		g.Ordinal = c.Req.Ordered.Ordinal
	}
	f := &family{parent: g.Parent, Own: ownOf(g), transforms: c.own, custom: g.Custom}
	if !g.Custom {
		// A component has no provider of its own, and so passes on only those by package.
		if f.providers = c.providers; f.providers == nil {
			f.providers = map[string]string{}
		}
	}
	c.Admission.Families.expect(c.PendingReply, f)
	return g, nil
}

// IsConstructed reports whether a provider constructs the resource. If that provider has failed in a preview, the registration is skipped like any
// other that needs it.
func (c *Completion) IsConstructed(g *stages.Goal) bool {
	return c.Req.Remote && !c.Admission.lacksProvider(g.Provider)
}

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
	before := c.Admission.Families.size()
	res, err := p.Construct(ctx, providers.ConstructRequest{
		Deployment: c.Admission.deployment(), Type: g.Type, Name: g.Name, Parent: g.Parent, Inputs: g.Inputs, InputDependencies: g.PropertyDependencies,
		Providers: c.providers, Dependencies: g.Dependencies, Protect: g.Protect, Aliases: g.Aliases,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		CustomTimeouts:          providers.Timeouts(g.CustomTimeouts.Value()), DeletedWith: g.DeletedWith, DeleteBeforeReplace: g.DeleteBeforeReplace,
		IgnoreChanges: g.IgnoreChanges, ReplaceOnChanges: g.ReplaceOnChanges, RetainOnDelete: g.RetainOnDelete,
		ReplaceWith: g.ReplaceWith, ReplacementTrigger: g.ReplacementTrigger, ResourceHooks: g.ResourceHooks,
	})
	if errors.Is(err, providers.ErrConfigurationUnknown) {
		return c.constructUnknown(ctx, g)
	}
	if err != nil {
		return c.notConstructed(g, err)
	}
	if err := c.Admission.Families.checkConstructed(res.URN, before); err != nil {
		return c.notConstructed(g, err)
	}
	deps := map[string][]urn.URN{}
	for name, ds := range res.OutputDependency {
		deps[name] = ds
	}
	for name, ds := range res.Outputs.OutputDependencies() {
		deps[name] = urn.SortedSet(append(deps[name], ds...))
	}
	c.Admission.Families.adopt(q, res.URN)
	q.Answer(&stages.RegisterReply{URN: res.URN, Outputs: res.Outputs.DowngradeOutputs(), PropertyDependencies: deps})
	return nil
}

// notConstructed is fail for a remote component.
func (c *Completion) notConstructed(g *stages.Goal, err error) error {
	return c.fail(g, fmt.Errorf("%v resource '%v' has a problem: %w", g.Type, g.Name, err))
}

// fail stops an update, unless it has stopped already and the error is a consequence.
func (c *Completion) fail(g *stages.Goal, err error) error {
	q := c.PendingReply
	if c.Admission.control.IsHalted() {
		q.Reject(stages.ErrShutDown)
		return nil
	}
	l := stages.Located{Registered: stages.Registered{PendingReply: q, Goal: g}}
	if !c.Admission.control.DryRun() {
		return c.Admission.control.Bail(l, stages.CodeInvalidResource, err)
	}
	l.URN = c.urnOf(g)
	if err := c.Admission.control.PassOn(&l, c.Admission.control.FailRegistration(l, stages.CodeInvalidResource, err)); err != nil {
		return err
	}
	c.Admission.registered.FailComponent(l.URN)
	q.Answer(l.Reply)
	return nil
}

// constructUnknown registers only the component itself: its provider is not configured in this preview (protocol.md 3.2).
func (c *Completion) constructUnknown(ctx context.Context, g *stages.Goal) error {
	reply, err := c.Admission.monitor.Register(ctx, &stages.RegisterRequest{Type: g.Type, Name: g.Name, Parent: g.Parent, SupportsResultReporting: true})
	if err != nil {
		c.PendingReply.Reject(err)
		return nil
	}
	c.Admission.Families.adopt(c.PendingReply, reply.URN)
	c.PendingReply.Answer(&stages.RegisterReply{URN: reply.URN, Outputs: property.Map{}, Result: reply.Result})
	return nil
}

// Migrate evaluates the state migrations of a completed registration. ended is true if the registration goes no further: its migrations have failed,
// or the run ends because they have changed the state.
func (c *Completion) Migrate(ctx context.Context, g *stages.Goal) (ended bool, err error) {
	m := c.Admission.Migrations
	functions := c.Req.StateMigrations
	if c.Req.Remote {
		if len(functions) > 0 {
			m.leave(c.urnOf(g), inheritance{functions, g.Aliases})
		}
		return false, nil
	}
	if m.areLeft.Load() {
		of := m.take(c.urnOf(g))
		functions = slices.Concat(functions, of.functions)
		g.Aliases = slices.Concat(of.aliases, g.Aliases)
	}
	found, err := m.evaluate(ctx, g, functions)
	switch {
	case err != nil:
		return true, c.fail(g, err)
	case found == nil:
		return false, nil
	}
	m.writer.Add(found)
	m.control.Yield()
	c.PendingReply.Reject(stages.ErrShutDown)
	return true, nil
}

func (c *Completion) urnOf(g *stages.Goal) urn.URN {
	info := c.Admission.control.Info
	return urn.Subject{Stack: info.Stack, Project: info.Project, Type: g.Type, Name: g.Name, Parent: g.Parent}.URN()
}

// mergeProviders returns the providers of a component, completed from its parent component's. An empty own reference means that the package has none.
// The result may be own, which the program may give to several registrations, so nobody changes it.
func mergeProviders(own, parents map[string]string) map[string]string {
	if len(parents) == 0 && !slices.Contains(slices.Collect(maps.Values(own)), "") {
		return own
	}
	merged := map[string]string{}
	maps.Copy(merged, parents)
	maps.Copy(merged, own)
	maps.DeleteFunc(merged, func(_, reference string) bool { return reference == "" })
	return merged
}

// completeProviders adds the parent component's providers to a component's.
func (c *Completion) completeProviders() {
	var parents map[string]string
	if f := c.Admission.Families.Of(c.Req.Parent); !c.Req.Custom && c.Req.Parent != "" && f != nil {
		parents = f.providers
	}
	c.providers = mergeProviders(c.opts.Providers, parents)
}

// chooseProvider finds the provider reference (steps.md 1.2 item 11).
func (c *Completion) chooseProvider(ctx context.Context) error {
	if (!c.Req.Custom || c.Req.Type.IsProvider()) && !c.Req.Remote {
		return nil
	}
	if c.opts.Provider != "" {
		c.provider = c.opts.Provider
		return nil
	}
	pkg, err := c.pkg()
	if err != nil {
		return err
	}
	c.provider, err = c.Admission.Defaults.reference(ctx, pkg.ServedBy(c.Req.Type), pkg)
	if reference, ok := unmade(c.Admission.control, err); ok {
		c.provider, err = reference, nil
	}
	return err
}

// extension returns the reference of the extension that the resource belongs to, "" for none.
func (c *Completion) extension() (string, error) {
	if c.Req.PackageRef == "" || c.Req.Type.IsProvider() || !c.Req.Custom && !c.Req.Remote {
		return "", nil
	}
	pkg, err := c.pkg()
	if err != nil || pkg.Extension == nil {
		return "", err
	}
	return c.Admission.access.Extensions.Register(*pkg.Extension), nil
}

// pkg returns the package that the request names, as changed by transforms.
func (c *Completion) pkg() (stages.Package, error) {
	p := c.Req.Package
	p.Version, p.DownloadURL, p.Checksums = c.opts.Version, c.opts.PluginDownloadURL, c.opts.PluginChecksums
	if p.Version != "" {
		if _, err := semver.NewVersion(p.Version); err != nil {
			return stages.Package{}, stages.Invalid("%s %q: version %q is not a semantic version: %w", c.Req.Type, c.Req.Name, p.Version, err)
		}
	}
	return c.Admission.packages.meant(p, c.Req.PackageRef)
}

// providerInputs adds the data for starting a provider to its inputs (steps.md 1.2 item 13).
func (c *Completion) providerInputs() error {
	if !c.Req.Type.IsProvider() {
		return nil
	}
	pkg, err := c.pkg()
	if err != nil {
		return err
	}
	c.Admission.Defaults.name(pkg.DownloadURL)
	name := c.Req.Type.ProviderPackage()
	if known, ok := c.Admission.Defaults.newest[name]; ok && c.opts.Version == "" && c.opts.PluginDownloadURL == "" && c.Req.PackageRef == "" {
		pkg.Version, pkg.DownloadURL = known.Version, known.DownloadURL
	}
	have, err := providers.SpecFromInputs(c.Req.Type, c.props)
	if err != nil {
		return stages.Invalid("provider %q: %w", c.Req.Name, err)
	}
	c.Admission.Defaults.name(have.DownloadURL)
	want := pkg.Spec(name)
	if want.Version == "" {
		want.Version = have.Version
	}
	if want.DownloadURL == "" {
		want.DownloadURL = have.DownloadURL
	}
	want.Environment = c.Req.EnvVarMappings
	c.props = want.Inputs(c.props)
	return nil
}

func parseTimeouts(t stages.CustomTimeouts) (state.Timeouts, error) {
	if t == (stages.CustomTimeouts{}) {
		return state.Timeouts{}, nil
	}
	var out state.Timeouts
	for _, x := range []struct {
		text    string
		seconds *float64
	}{{t.Create, &out.Create}, {t.Update, &out.Update}, {t.Delete, &out.Delete}, {t.Read, &out.Read}} {
		if x.text == "" {
			continue
		}
		d, err := time.ParseDuration(x.text)
		if err != nil {
			return out, stages.Invalid("unable to parse customTimeout Value %s", x.text)
		}
		*x.seconds = d.Seconds()
	}
	return out, nil
}
