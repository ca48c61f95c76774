package loader

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// ResolverOptions configure the PackageResolver service.
type ResolverOptions struct {
	// Providers starts providers by name. It may install them.
	Providers providers.Host
	// Local starts the provider of a plugin on the disk.
	Local func(plugin.ProjectPlugin) providers.Host
	// Directory returns the folder to which paths are relative.
	Directory func() string
}

// RegisterResolver adds the PackageResolver service to those of a server.
func RegisterResolver(r grpc.ServiceRegistrar, o ResolverOptions) {
	pulumirpc.RegisterPackageResolverServer(r, &resolver{options: o})
}

type resolver struct {
	pulumirpc.UnimplementedPackageResolverServer
	options ResolverOptions
}

// ResolvePackage returns the package for a package source, in the form in which programs register it.
func (r *resolver) ResolvePackage(ctx context.Context, req *pulumirpc.PackageSpec) (*pulumirpc.PackageDependency, error) {
	host, spec, err := r.place(req)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	var of *providers.ParameterizeRequest
	if parameters := req.GetParameters(); len(parameters) > 0 {
		of = &providers.ParameterizeRequest{Args: parameters}
	}
	text, err := providers.Schema(ctx, host, spec, of)
	if errors.Is(err, providers.ErrUnsupported) {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if err != nil {
		return nil, err
	}
	is, err := tooling.ReadPackageSchema([]byte(text))
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "the schema of %s: %v", req.GetSource(), err)
	}
	pkg := is.Package()
	return &pulumirpc.PackageDependency{
		Name: pkg.Name, Kind: string(plugin.Resource), Version: cmp.Or(pkg.Version, spec.Version),
		Server: cmp.Or(spec.DownloadURL, pkg.DownloadURL), Checksums: req.GetChecksums(),
		Parameterization: parameterized(pkg.Parameterization), Extension: parameterized(pkg.Extension),
	}, nil
}

func parameterized(p *stages.Parameterization) *pulumirpc.PackageParameterization {
	if p == nil {
		return nil
	}
	return &pulumirpc.PackageParameterization{Name: p.Name, Version: p.Version, Value: p.Value}
}

// place returns the plugin of a package, and the host that starts it.
func (r *resolver) place(req *pulumirpc.PackageSpec) (providers.Host, providers.Spec, error) {
	spec := providers.Spec{DownloadURL: req.GetServer(), Checksums: req.GetChecksums()}
	written, tag, _ := strings.Cut(req.GetSource(), "@")
	if filepath.IsAbs(req.GetSource()) || strings.HasPrefix(req.GetSource(), ".") {
		place := req.GetSource()
		if !filepath.IsAbs(place) {
			place = filepath.Join(r.options.Directory(), place)
		}
		local, err := plugin.ProviderAt(place)
		spec.Package = local.Name
		return r.options.Local(local), spec, err
	}
	server, commit, err := plugin.ParsePackageSource(req.GetSource())
	switch {
	case err == nil:
		spec.Package, spec.DownloadURL = path.Base(server), server
		spec.Version = cmp.Or(commit, strings.TrimPrefix(req.GetVersion(), "v"))
		return r.options.Providers, spec, nil
	case !errors.Is(err, plugin.ErrNoGitSource):
		return nil, spec, err
	case strings.Contains(written, "/"):
		return nil, spec, errors.New(written + " is a package of the hosted service, whose registry is not read; " +
			"name its plugin as in random@4.0.0, or its repository as in github.com/example/things")
	}
	spec.Package = written
	if spec.Version, err = version(cmp.Or(req.GetVersion(), tag)); err != nil {
		return nil, spec, err
	}
	return r.options.Providers, spec, urn.CheckPackageName("package", spec.Package)
}
