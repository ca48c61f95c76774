package stages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// builtinPackage is the package that the engine itself provides (steps.md 10.5).
const builtinPackage = "pulumi"

// registerBuffer is how many goals may wait for their turn without a goroutine each: programs declare thousands at once,
// and a waiting goal takes a few words where a goroutine takes kilobytes.
const registerBuffer = 8192

// Register is the stage that completes a registration into a goal: validation, inheritance, transforms and the choice
// of a provider (steps.md 1.2). A remote component ends here: its provider constructs it.
//
// It calls programs and providers that call back, so each input has a goroutine of its own.
func Register(run *Run) pipeline.Stage[Submitted, Registered] {
	r := run.admission
	return pipeline.Stage[Submitted, Registered]{
		Name:    "register",
		Workers: pipeline.Unbounded,
		Buffer:  registerBuffer,
		Run: func(ctx context.Context, s Submitted, emit pipeline.Emit[Registered]) error {
			switch {
			case s.internal != nil:
				return emit(Registered{Question: s.Question, Goal: s.internal, Internal: true})
			case s.Read != nil:
				goal, err := r.completeRead(ctx, s)
				if err != nil {
					s.Settle(err)
					return nil
				}
				return emit(Registered{Question: s.Question, Read: goal})
			}
			c := completion{admission: r, req: s.Register, question: s.Question}
			goal, err := c.complete(ctx)
			switch {
			case err != nil:
				// A malformed request is the program's to handle; it does not stop the run.
				s.Settle(err)
				return nil
			case s.Register.Remote:
				return c.construct(ctx, goal)
			}
			return emit(Registered{Question: s.Question, Goal: goal})
		},
	}
}

// completion turns one request into a goal.
type completion struct {
	*admission
	req      *RegisterRequest
	question *Question

	props     property.Map
	opts      TransformOptions
	own       []Transform
	deps      []urn.URN
	propDeps  map[string][]urn.URN
	provider  string
	providers map[string]string
}

func (c *completion) complete(ctx context.Context) (*Goal, error) {
	req := c.req
	inherited := *req
	c.req = &inherited
	c.inherit()
	if (req.Custom || req.Remote) && !req.Type.IsToken() {
		return nil, invalid("type %q of resource %q is not a full type token <package>:<module>:<type>", req.Type, req.Name)
	}
	if len(req.EnvVarMappings) > 0 && !req.Type.IsProvider() {
		return nil, invalid("envVarMappings can only be used with provider resources")
	}
	var err error
	if c.props, err = property.HashAssets(ctx, req.Inputs, c.Directory); err != nil {
		return nil, fmt.Errorf("%s %q: %w", req.Type, req.Name, err)
	}
	c.dependencies()
	if err := c.transform(ctx); err != nil {
		return nil, err
	}
	c.completeProviders()
	if err := c.chooseProvider(ctx); err != nil {
		return nil, err
	}
	c.rebuildDependencies()
	if err := c.providerInputs(); err != nil {
		return nil, err
	}
	return c.goal()
}

func invalid(format string, args ...any) error {
	return &InvalidRequestError{fmt.Errorf(format, args...)}
}

// inherit takes over from the parent's goal what the request leaves open (steps.md 1.2 item 2).
func (c *completion) inherit() {
	f := c.families.of(c.req.Parent)
	if c.req.Parent == "" || f == nil || f.goal == nil {
		return
	}
	g, req := f.goal, c.req
	if req.DeletedWith == "" {
		req.DeletedWith = g.DeletedWith
	}
	if req.Protect == nil {
		req.Protect = g.Protect
	}
	if req.RetainOnDelete == nil {
		req.RetainOnDelete = g.RetainOnDelete
	}
	if req.Provider == "" {
		ref, err := urn.ParseProviderRef(g.Provider)
		if !req.Remote && !req.Custom || err == nil && ref.Package() == req.Type.Package() {
			req.Provider = g.Provider
		}
	}
}

// dependencies collects what the request depends on (steps.md 1.2 items 8 and 9).
func (c *completion) dependencies() {
	c.deps = sortedSet(c.req.Dependencies)
	c.propDeps = map[string][]urn.URN{}
	if len(c.req.PropertyDependencies) == 0 && !c.req.Remote {
		for name := range c.props.All() {
			c.propDeps[name] = c.deps
		}
		return
	}
	for name, ds := range c.req.PropertyDependencies {
		c.propDeps[name] = sortedSet(ds)
	}
}

// transform runs the transforms that apply, each on what the one before returned (steps.md 1.2 item 10).
func (c *completion) transform(ctx context.Context) error {
	req := c.req
	if len(req.Transforms) > 0 {
		c.props = c.props.WithDependencies(c.propDeps)
	}
	c.opts = TransformOptions{
		DependsOn: c.deps, Protect: req.Protect, IgnoreChanges: req.IgnoreChanges, ReplaceOnChanges: req.ReplaceOnChanges,
		Version: req.Package.Version, Aliases: nodeAliases(req), Provider: req.Provider, CustomTimeouts: req.CustomTimeouts,
		PluginDownloadURL: req.Package.DownloadURL, RetainOnDelete: req.RetainOnDelete, DeletedWith: req.DeletedWith,
		DeleteBeforeReplace: req.DeleteBeforeReplace, AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		Providers: req.Providers, PluginChecksums: req.Package.Checksums, Hooks: req.Hooks, Import: req.ImportID,
		HideDiffs: req.HideDiffs, ReplaceWith: req.ReplaceWith, ReplacementTrigger: req.ReplacementTrigger,
	}
	if req.Custom || req.Remote {
		c.opts.Provider = c.resolveProvider(req.Provider, req.Providers, req.Parent, req.Type.Package())
	}
	c.own = c.monitor.ownTransforms(req)
	all := c.monitor.transformsFor(c.own, req.Parent)
	for _, t := range all {
		out, err := t(ctx, TransformInput{
			Type: req.Type, Name: req.Name, Custom: req.Custom, Parent: req.Parent, Properties: c.props, Options: c.opts,
		})
		if err != nil {
			return fmt.Errorf("invoke transform: %w", err)
		}
		c.props, c.opts = out.Properties, out.Options
	}
	if len(all) == 0 {
		return nil
	}
	props, err := property.HashAssets(ctx, c.props, c.Directory)
	c.props = props
	return err
}

// nodeAliases reads the parents of aliases as old Node.js SDKs mean them (steps.md 1.2 item 5).
func nodeAliases(req *RegisterRequest) []urn.Alias {
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

// rebuildDependencies adds what output values depend on (steps.md 1.2 item 10).
func (c *completion) rebuildDependencies() {
	carried := c.props.OutputDependencies()
	if len(c.req.Transforms) > 0 {
		all := slices.Clone(c.opts.DependsOn)
		c.propDeps = map[string][]urn.URN{}
		for name := range c.props.All() {
			c.propDeps[name] = sortedSet(carried[name])
			all = append(all, carried[name]...)
		}
		c.deps = sortedSet(all)
	} else {
		for name := range c.props.All() {
			c.propDeps[name] = sortedSet(append(slices.Clone(c.propDeps[name]), carried[name]...))
		}
	}
	if !c.req.Remote {
		c.props = c.props.DowngradeOutputs()
	}
}

func (c *completion) goal() (*Goal, error) {
	timeouts, err := parseTimeouts(c.opts.CustomTimeouts)
	if err != nil {
		return nil, err
	}
	for i, p := range c.opts.HideDiffs {
		if _, err := property.ParsePathStrict(p); err != nil {
			return nil, invalid("hideDiffs[%d]: %w", i, err)
		}
	}
	extension, err := c.extension()
	if err != nil {
		return nil, err
	}
	g := &Goal{
		Type: c.req.Type, Name: c.req.Name, Custom: c.req.Custom, Parent: c.req.Parent, Inputs: c.props,
		Protect: c.opts.Protect, Dependencies: c.deps, PropertyDependencies: c.propDeps, Provider: c.provider,
		DeleteBeforeReplace: c.opts.DeleteBeforeReplace, IgnoreChanges: c.opts.IgnoreChanges, HideDiff: c.opts.HideDiffs,
		ReplaceOnChanges: c.opts.ReplaceOnChanges, ReplacementTrigger: c.opts.ReplacementTrigger,
		AdditionalSecretOutputs: c.opts.AdditionalSecretOutputs, Aliases: c.opts.Aliases, ImportID: c.opts.Import,
		CustomTimeouts: timeouts, RetainOnDelete: c.opts.RetainOnDelete, DeletedWith: c.opts.DeletedWith,
		ReplaceWith: c.opts.ReplaceWith, ResourceHooks: c.opts.Hooks, ExtensionRef: extension,
		SourcePosition: c.req.SourcePosition, StackTrace: c.req.StackTrace,
	}
	f := &family{parent: g.Parent, goal: g, transforms: c.own, custom: g.Custom}
	if !g.Custom {
		// A component has no provider of its own, and so passes none on but those by package.
		if f.providers = c.providers; f.providers == nil {
			f.providers = map[string]string{}
		}
	}
	c.families.expect(c.question, f)
	return g, nil
}

func parseTimeouts(t CustomTimeouts) (state.Timeouts, error) {
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
			return out, invalid("unable to parse customTimeout Value %s", x.text)
		}
		*x.seconds = d.Seconds()
	}
	return out, nil
}

// completeRead turns a read request into a goal.
func (r *admission) completeRead(ctx context.Context, s Submitted) (*ReadGoal, error) {
	req := s.Read
	if !req.Type.IsToken() {
		return nil, invalid("type %q of resource %q is not a full type token <package>:<module>:<type>", req.Type, req.Name)
	}
	pkg, err := r.packages.meant(req.Package, req.PackageRef)
	if err != nil {
		return nil, err
	}
	provider := req.Provider
	if provider == "" {
		if provider, err = r.defaults.reference(ctx, pkg.servedBy(req.Type), pkg); err != nil {
			return nil, err
		}
	}
	if ref, err := urn.ParseProviderRef(provider); err == nil {
		if pkg, denied := ref.Denied(); denied {
			return nil, fmt.Errorf(deniedText, pkg, req.Type)
		}
	}
	r.families.expect(s.Question, &family{parent: req.Parent, goal: &Goal{Provider: provider}, custom: true})
	extension := ""
	if pkg.Extension != nil {
		extension = r.extensions.register(*pkg.Extension)
	}
	return &ReadGoal{
		ExtensionRef: extension, Type: req.Type, Name: req.Name, ID: req.ID, Parent: req.Parent, Properties: req.Properties.DowngradeOutputs(),
		Dependencies: sortedSet(req.Dependencies), Provider: provider, AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		SourcePosition: req.SourcePosition, StackTrace: req.StackTrace,
	}, nil
}

// sortedSet returns the distinct URNs in ascending order: the wire's order is arbitrary and must not reach a state.
func sortedSet(us []urn.URN) []urn.URN {
	if len(us) == 0 {
		return nil
	}
	out := slices.Clone(us)
	slices.Sort(out)
	return slices.Compact(out)
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
