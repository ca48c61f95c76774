package eval

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/check"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
)

// invocation is a call of a function of a package.
type invocation struct {
	eval     *Evaluator
	of       *ast.Invoke
	function check.Function
}

// run calls the function (protocol.md 11.8). If an argument is unknown, so is the result, and the function is not called.
func (i invocation) run() (property.Value, error) {
	req := &stages.InvokeRequest{
		Token: i.function.Token, PackageRef: i.function.PackageRef,
		Package: stages.Package{
			Name: ast.PackageOf(i.function.Token), Version: i.of.Options.Version.Value, DownloadURL: i.of.Options.PluginDownloadURL.Value,
		},
	}
	args, marks, err := i.arguments()
	if failed := i.options(req); err == nil {
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
	req.Args = args.WithoutNulls().AsMap()
	reply, err := i.eval.monitor.Invoke(i.of.Token.At, req)
	switch {
	case err != nil:
		return property.Null, err
	case reply.Unknown:
		return marks.Mark(property.Computed()), nil
	case len(reply.Failures) > 0:
		for _, failure := range reply.Failures {
			err = i.eval.report.Fail(i.of.Token.At, "", "%s refuses its argument %s: %s", i.of.Token.Value, failure.Property, failure.Reason)
		}
		return property.Null, err
	}
	marks.Secret = marks.Secret || reply.Return.HasSecrets()
	v, err := i.result(reply.Return)
	if err != nil {
		return property.Null, err
	}
	return marks.Mark(v.StripSecretsAndOutputs()), nil
}

func (i invocation) arguments() (property.Value, values.Marks, error) {
	if i.of.Args == nil {
		return property.Of(property.Map{}), values.Marks{}, nil
	}
	v, err := i.eval.Eval(i.of.Args)
	if err != nil {
		return property.Null, values.Marks{}, err
	}
	if err := i.eval.available(v, i.of.Args.Range()); err != nil {
		return property.Null, values.Marks{}, err
	}
	plain, marks := values.UnmarkDeep(v)
	if !plain.IsMap() && !plain.IsUnknown() {
		return property.Null, values.Marks{}, i.eval.report.Fail(i.of.Args.Range(), "",
			"the arguments of a function must be an object, not %s", values.Describe(plain))
	}
	return plain, marks, nil
}

// options adds the options of a call to its request. It evaluates all of them and returns the first error.
func (i invocation) options(req *stages.InvokeRequest) error {
	if i.eval.owner.Instance != "" {
		req.Parent = i.eval.owner.URN // the parent passes on the component's providers
	}
	parent, first := i.eval.Resource(i.of.Options.Parent, "parent")
	if parent != nil {
		req.Parent = parent.URN
	}
	dependsOn, err := i.eval.Resources(i.of.Options.DependsOn, "dependsOn")
	if first == nil {
		first = err
	}
	for _, r := range dependsOn {
		req.DependsOn = append(req.DependsOn, r.URN)
	}
	if err := i.provider(req); first == nil {
		first = err
	}
	return first
}

// provider sets the provider of a call: that of the options, or the default provider of the package.
func (i invocation) provider(req *stages.InvokeRequest) error {
	if x := i.of.Options.Provider; x != nil {
		provider, err := i.eval.Resource(x, "provider")
		if err != nil {
			return err
		}
		if !provider.Type.IsProvider() {
			return i.eval.report.Fail(x.Range(), "", "`provider` must be a provider, a resource of a type like pulumi:providers:aws, not a %s", provider.Type)
		}
		req.Provider = provider.ProviderRef()
		return nil
	}
	n := i.eval.names.scope.Default(ast.PackageOf(i.of.Token.Value))
	if n == nil {
		return nil
	}
	provider, err := i.eval.Made(n)
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
func (i invocation) result(m property.Map) (property.Value, error) {
	if i.function.Schema != nil && i.function.Schema.IsScalar && m.Len() == 1 {
		for _, v := range m.All() {
			return v, nil
		}
	}
	if !i.of.Return.IsGiven() {
		return property.Of(m), nil
	}
	v, ok := m.Get(i.of.Return.Value)
	if !ok {
		return property.Null, i.eval.report.Fail(i.of.Return.At, syntax.Nearest(i.of.Return.Value, m.Names()),
			"the result of %s has no property %q", i.of.Token.Value, i.of.Return.Value)
	}
	return v, nil
}
