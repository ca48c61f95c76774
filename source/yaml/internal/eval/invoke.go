package eval

import (
	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/check"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
)

// invoke calls a function of a package (protocol.md 11.8). If an argument is unknown, so is the result, and the function
// is not called.
func (e *Evaluator) invoke(i *ast.Invoke) (property.Value, error) {
	f, known := e.functions[i]
	if !known {
		return property.Null, syntax.ErrReported // settings are evaluated before packages are loaded
	}
	req := &stages.InvokeRequest{
		Token: f.Token, PackageRef: f.PackageRef,
		Package: stages.Package{
			Name: ast.PackageOf(f.Token), Version: i.Options.Version.Value, DownloadURL: i.Options.PluginDownloadURL.Value,
		},
	}
	args, marks, err := e.arguments(i)
	if failed := e.invokeOptions(i, req); err == nil {
		err = failed
	}
	if err != nil {
		return property.Null, err
	}
	if req.Package.Version != "" || req.Package.DownloadURL != "" {
		req.PackageRef = ""
	}
	marks = marks.And(values.Marks{Dependencies: values.Sorted(req.DependsOn)})
	if args.IsUnknown() {
		return marks.Mark(property.Computed()), nil
	}
	req.Args = args.AsMap()
	reply, err := e.monitor.Invoke(i.Token.At, req)
	switch {
	case err != nil:
		return property.Null, err
	case reply.Unknown:
		return marks.Mark(property.Computed()), nil
	case len(reply.Failures) > 0:
		for _, failure := range reply.Failures {
			err = e.report.Fail(i.Token.At, "", "%s refuses its argument %s: %s", i.Token.Value, failure.Property, failure.Reason)
		}
		return property.Null, err
	}
	marks.Secret = marks.Secret || reply.Return.HasSecrets()
	v, err := e.result(i, f, reply.Return)
	if err != nil {
		return property.Null, err
	}
	return marks.Mark(v.StripSecretsAndOutputs()), nil
}

func (e *Evaluator) arguments(i *ast.Invoke) (property.Value, values.Marks, error) {
	if i.Args == nil {
		return property.Of(property.Map{}), values.Marks{}, nil
	}
	v, err := e.Eval(i.Args)
	if err != nil {
		return property.Null, values.Marks{}, err
	}
	if err := e.available(v, i.Args.Range()); err != nil {
		return property.Null, values.Marks{}, err
	}
	plain, marks := values.UnmarkDeep(v)
	if !plain.IsMap() && !plain.IsUnknown() {
		return property.Null, values.Marks{}, e.report.Fail(i.Args.Range(), "",
			"the arguments of a function must be an object, not %s", values.Describe(plain))
	}
	return plain, marks, nil
}

// invokeOptions adds the options of a call to its request. It evaluates all of them and returns the first error.
func (e *Evaluator) invokeOptions(i *ast.Invoke, req *stages.InvokeRequest) error {
	if e.owner.Instance != "" {
		req.Parent = e.owner.URN // the parent passes on the component's providers
	}
	parent, first := e.Resource(i.Options.Parent, "parent")
	if parent != nil {
		req.Parent = parent.URN
	}
	dependsOn, err := e.Resources(i.Options.DependsOn, "dependsOn")
	if first == nil {
		first = err
	}
	for _, r := range dependsOn {
		req.DependsOn = append(req.DependsOn, r.URN)
	}
	if err := e.invokeProvider(i, req); first == nil {
		first = err
	}
	return first
}

// invokeProvider sets the provider of a call: that of the options, or the default provider of the package.
func (e *Evaluator) invokeProvider(i *ast.Invoke, req *stages.InvokeRequest) error {
	if x := i.Options.Provider; x != nil {
		provider, err := e.Resource(x, "provider")
		if err != nil {
			return err
		}
		if !provider.Type.IsProvider() {
			return e.report.Fail(x.Range(), "", "`provider` must be a provider, a resource of a type like pulumi:providers:aws, not a %s", provider.Type)
		}
		req.Provider = provider.ProviderRef()
		return nil
	}
	n := e.names.scope.Default(ast.PackageOf(i.Token.Value))
	if n == nil {
		return nil
	}
	provider, err := e.Made(n)
	if err != nil {
		return err
	}
	if req.Package.Version == "" {
		req.Package.Version = n.Resource.Options.Version.Value
	}
	req.Provider = provider.ProviderRef()
	return nil
}

// result returns the requested part of the reply. A scalar result is the only property of the reply.
func (e *Evaluator) result(i *ast.Invoke, f check.Function, m property.Map) (property.Value, error) {
	if f.Schema != nil && f.Schema.IsScalar && m.Len() == 1 {
		for _, v := range m.All() {
			return v, nil
		}
	}
	if !i.Return.IsGiven() {
		return property.Of(m), nil
	}
	v, ok := m.Get(i.Return.Value)
	if !ok {
		return property.Null, e.report.Fail(i.Return.At, syntax.Nearest(i.Return.Value, m.Names()),
			"the result of %s has no property %q", i.Token.Value, i.Return.Value)
	}
	return v, nil
}
