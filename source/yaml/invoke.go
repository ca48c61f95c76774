package yaml

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// invoke calls a function of a package (protocol.md 11.8). While an argument is unknown, so is the result, and nothing is
// called.
func (e *evaluation) invoke(i *ast.Invoke) (property.Value, error) {
	f := e.functions[i]
	if f == nil {
		return property.Null, errPoisoned // in configuration, which is evaluated before packages are known
	}
	req := &stages.InvokeRequest{
		Token: f.token, PackageRef: f.packageRef,
		Package: stages.Package{Name: packageOfToken(f.token), Version: i.Options.Version.Value, DownloadURL: i.Options.PluginDownloadURL.Value},
	}
	args, whole, err := e.arguments(i)
	if failed := e.invokeOptions(i, req); err == nil {
		err = failed
	}
	if err != nil {
		return property.Null, err
	}
	if req.Package.Version != "" || req.Package.DownloadURL != "" {
		req.PackageRef = ""
	}
	whole.deps = union(whole.deps, sorted(req.DependsOn))
	if args.IsUnknown() {
		return whole.wrap(property.Computed()), nil
	}
	req.Args = args.AsMap()
	reply, err := e.monitor.Invoke(e.ctx, req)
	switch {
	case err != nil:
		return property.Null, e.refused(i.Token.At, err)
	case reply.Unknown:
		return whole.wrap(property.Computed()), nil
	case len(reply.Failures) > 0:
		for _, failure := range reply.Failures {
			err = e.fail(i.Token.At, "", "%s refuses its argument %s: %s", i.Token.Value, failure.Property, failure.Reason)
		}
		return property.Null, err
	}
	whole.secret = whole.secret || reply.Return.HasSecrets()
	v, err := e.result(i, f, reply.Return)
	if err != nil {
		return property.Null, err
	}
	return whole.wrap(v.StripSecretsAndOutputs()), nil
}

func (e *evaluation) arguments(i *ast.Invoke) (property.Value, peeled, error) {
	if i.Args == nil {
		return property.Of(property.Map{}), peeled{}, nil
	}
	v, err := e.eval(i.Args)
	if err != nil {
		return property.Null, peeled{}, err
	}
	plain, whole := flat(v)
	if !plain.IsMap() && !plain.IsUnknown() {
		return property.Null, peeled{}, e.fail(i.Args.Range(), "", "the arguments of a function must be an object, not %s", describe(plain))
	}
	return plain, whole, nil
}

func (e *evaluation) invokeOptions(i *ast.Invoke, req *stages.InvokeRequest) error {
	o := &options{evaluation: e}
	if e.component != "" {
		req.Parent = e.parent // which hands on the providers that the component was given
	}
	if r := o.resource(i.Options.Parent, "parent"); r != nil {
		req.Parent = r.urn
	}
	for _, r := range o.resources(i.Options.DependsOn, "dependsOn") {
		req.DependsOn = append(req.DependsOn, r.urn)
	}
	var provider *resource
	if i.Options.Provider != nil {
		provider = o.resource(i.Options.Provider, "provider")
		if provider != nil && !provider.typ.IsProvider() {
			return e.fail(i.Options.Provider.Range(), "", "`provider` must be a provider, a resource of a type like pulumi:providers:aws, not a %s", provider.typ)
		}
	} else if p := e.scope.defaults[packageOfToken(i.Token.Value)]; p != nil {
		if p.poisoned {
			return errPoisoned
		}
		provider = p.made
		if req.Package.Version == "" {
			req.Package.Version = p.resource.Options.Version.Value
		}
	}
	if provider != nil {
		req.Provider = provider.providerRef()
	}
	return o.first
}

// result is the part of the answer that the program asks for. The only property of a scalar result stands for the whole.
func (e *evaluation) result(i *ast.Invoke, f *function, m property.Map) (property.Value, error) {
	if f.schema != nil && f.schema.IsScalar && m.Len() == 1 {
		for _, v := range m.All() {
			return v, nil
		}
	}
	if !i.Return.IsGiven() {
		return property.Of(m), nil
	}
	v, ok := m.Get(i.Return.Value)
	if !ok {
		return property.Null, e.fail(i.Return.At, syntax.Nearest(i.Return.Value, m.Names()),
			"the result of %s has no property %q", i.Token.Value, i.Return.Value)
	}
	return v, nil
}

// hydrate asks the engine for a resource that this program has not registered itself: a child of a component.
func (e *evaluation) hydrate(u urn.URN, at syntax.Range) (*resource, error) {
	reply, err := e.monitor.Invoke(e.ctx, &stages.InvokeRequest{
		Token: "pulumi:pulumi:getResource", Package: stages.Package{Name: "pulumi"},
		Args: property.NewMap(map[string]property.Value{"urn": property.String(string(u))}),
	})
	if err != nil {
		return nil, e.refused(at, err)
	}
	r := &resource{urn: u, typ: u.Type(), name: u.Name(), id: reply.Return.At("id"), outputs: reply.Return.At("state").AsMap()}
	if inner, _ := r.id.Unwrap(); inner.IsString() && inner.AsString() == "" {
		r.id, r.isPending = property.Computed(), true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byURN[u] = r
	return r, nil
}

// stackReference is an output of another stack, which is read once (deprecated, protocol.md 11.7).
func (e *evaluation) stackReference(c *ast.Call, args []property.Value) (property.Value, error) {
	name := args[0].AsString()
	output, p := flat(args[1])
	if output.IsUnknown() {
		return p.wrap(property.Computed()), nil
	}
	if !output.IsString() {
		return property.Null, e.wants(c, 1, "a string", output)
	}
	outputs, err := e.otherStack(name, c.Range())
	if err != nil {
		return property.Null, errPoisoned
	}
	all := peel(outputs.At("outputs"))
	if all.inner.IsUnknown() {
		return all.wrap(property.Computed()), nil
	}
	return p.wrap(all.wrap(all.inner.AsMap().At(output.AsString()))), nil
}

// otherStack reads a stack once, however often it is referred to, and reports an error once.
func (e *evaluation) otherStack(name string, at syntax.Range) (property.Map, error) {
	outputs, err := e.otherStacks.Do(e.ctx, name, func() (*property.Map, error) {
		reply, err := e.monitor.Read(e.ctx, &stages.ReadRequest{
			Type: stackReferenceType, Name: name, ID: property.String(name), Parent: e.parent, Package: stages.Package{Name: "pulumi"},
			Properties: property.NewMap(map[string]property.Value{"name": property.String(name)}),
		})
		if err != nil {
			_ = e.refused(at, err)
			return nil, nil
		}
		if reply.Result != stages.Success {
			return nil, nil // the engine has said why
		}
		return &reply.Outputs, nil
	})
	if err != nil || outputs == nil {
		return property.Map{}, errPoisoned
	}
	return *outputs, nil
}
