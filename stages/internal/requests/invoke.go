package requests

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Invoke calls a function of a provider (protocol.md 4.6). An error goes to the program and does not stop the run.
func (m *monitor) Invoke(ctx context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	ctx, done, err := m.beginNew(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	in := stages.InvokeTransformInput{
		Token: req.Token, Args: req.Args, Provider: m.admission.resolveProvider(req.Provider, nil, req.Parent, urn.Type(req.Token).Package()),
		Version: req.Package.Version, PluginDownloadURL: req.Package.DownloadURL, PluginChecksums: req.Package.Checksums,
	}
	m.mu.Lock()
	transforms := m.invokes
	m.mu.Unlock()
	for _, t := range transforms {
		if in, err = t(ctx, in); err != nil {
			return nil, fmt.Errorf("invoke transform: %w", causeOf(ctx, err))
		}
	}
	p, err := m.functionProvider(ctx, in, req.Package, req.PackageRef)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	unresolved, err := m.admission.Families.unresolved(ctx, req.DependsOn)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if unresolved {
		return &stages.InvokeReply{Unknown: true}, nil
	}
	if err := available(in.Args); err != nil {
		return nil, fmt.Errorf("invocation of %v returned an error: %w", req.Token, err)
	}
	res, err := p.Invoke(ctx, providers.InvokeRequest{Token: req.Token, Args: in.Args.DowngradeOutputs(), Preview: m.admission.control.DryRun()})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("invocation of %v returned an error: %w", req.Token, err)
	}
	return &stages.InvokeReply{Return: res.Return, Failures: checkFailures(res.Failures)}, nil
}

func checkFailures(in []providers.CheckFailure) []stages.CheckFailure {
	var out []stages.CheckFailure
	for _, f := range in {
		out = append(out, stages.CheckFailure(f))
	}
	return out
}

func (m *monitor) functionProvider(ctx context.Context, in stages.InvokeTransformInput, p stages.Package, ref string) (providers.Provider, error) {
	pkg := urn.Type(in.Token).Package()
	if pkg == "" {
		return nil, stages.Invalid("function token %q does not have the form <package>:<module>:<name>", in.Token)
	}
	if err := urn.CheckPackageName("package", pkg); err != nil {
		return nil, stages.Invalid("function token %q: %w", in.Token, err)
	}
	p, err := m.admission.packages.meant(p, ref)
	if err != nil {
		return nil, err
	}
	reference := in.Provider
	if reference == "" {
		if ref == "" {
			p.Version, p.DownloadURL, p.Checksums = in.Version, in.PluginDownloadURL, in.PluginChecksums
		}
		if reference, err = m.admission.Defaults.reference(ctx, p.ServedBy(urn.Type(in.Token)), p); err != nil {
			return nil, err
		}
	}
	provider, err := m.admission.access.RemoteProvider(reference, in.Token)
	if err != nil || p.Extension == nil {
		return provider, err
	}
	return provider, m.admission.access.Extensions.Apply(ctx, provider, m.admission.access.Extensions.Register(*p.Extension))
}

// Call calls a method of a resource (protocol.md 4.7). An error stops the run.
func (m *monitor) Call(ctx context.Context, req *stages.CallRequest) (*stages.CallReply, error) {
	ctx, done, err := m.beginNew(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := m.methodProvider(ctx, req)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	d := m.admission.deployment()
	if err := available(req.Args); err != nil {
		return nil, m.callFailed(req.Token, err)
	}
	args := req.Args.LiftOutputs()
	deps := map[string][]urn.URN{}
	for name, ds := range req.ArgDependencies {
		deps[name] = ds
	}
	for name, ds := range args.OutputDependencies() {
		deps[name] = urn.SortedSet(append(deps[name], ds...))
	}
	res, err := p.Call(ctx, providers.CallRequest{Token: req.Token, Args: args.DowngradeBareOutputs(), ArgDependencies: deps, Deployment: d, StackTraceHandle: req.StackTraceHandle})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, m.callFailed(req.Token, err)
	}
	ret := map[string][]urn.URN{}
	for name, ds := range res.ReturnDependencies {
		ret[name] = ds
	}
	for name, ds := range res.Return.OutputDependencies() {
		ret[name] = urn.SortedSet(append(ret[name], ds...))
	}
	return &stages.CallReply{Return: res.Return.DowngradeOutputs(), ReturnDependencies: ret, Failures: checkFailures(res.Failures)}, nil
}

// callFailed stops the run.
func (m *monitor) callFailed(token string, err error) error {
	m.admission.control.Fail(0, "", stages.CodeCallFailed, fmt.Errorf("call to function '%v' failed: %w", token, err))
	m.admission.control.Halt()
	return stages.ErrShutDown
}

// available returns an error if an argument is not available. Then not even a preview can go on.
func available(args property.Map) error {
	at, v, found := args.FindUnavailable()
	if !found {
		return nil
	}
	why, _ := v.IsUnavailable()
	return fmt.Errorf("the value of %s is not available: %s", at, why)
}

// methodProvider chooses the provider of a call (steps.md 10.2).
func (m *monitor) methodProvider(ctx context.Context, req *stages.CallRequest) (providers.Provider, error) {
	self, hasSelf := req.Args.Get("__self__")
	inner, _ := self.Unwrap()
	ref := inner.AsReference()
	if strings.HasPrefix(req.Token, "pulumi:providers:") {
		switch {
		case !hasSelf:
			return nil, stages.Invalid("missing __self__ argument for provider method call")
		case ref.URN == "":
			return nil, stages.Invalid("missing __self__.urn for method call")
		}
		id := ref.ID.AsString()
		if ref.ID.IsUnknown() {
			id = urn.UnknownID
		}
		return m.admission.access.RemoteProvider(urn.ProviderRef{URN: ref.URN, ID: id}.String(), req.Token)
	}
	if req.Provider != "" {
		return m.admission.access.RemoteProvider(req.Provider, req.Token)
	}
	if hasSelf && ref.URN != "" {
		f := m.admission.Families.Of(ref.URN)
		if f == nil || f.Own == nil {
			return nil, stages.Invalid("unknown resource %v", ref.URN)
		}
		if f.Own.provider != "" {
			return m.admission.access.RemoteProvider(f.Own.provider, req.Token)
		}
	}
	return m.functionProvider(ctx, stages.InvokeTransformInput{
		Token: req.Token, Version: req.Package.Version, PluginDownloadURL: req.Package.DownloadURL, PluginChecksums: req.Package.Checksums,
	}, req.Package, req.PackageRef)
}
