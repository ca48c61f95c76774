package loader_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/source/loader"
)

// resolver serves packages. The second parameter of a parameterized package is its name: "more" extends the package of its plugin, all
// others replace it. Without parameters, a package has the name of its plugin. started lists the started providers.
func resolver(t *testing.T, directory string) (client pulumirpc.PackageResolverClient, started *[]providers.Spec) {
	t.Helper()
	started = &[]providers.Spec{}
	host := providers.HostFunc(func(_ context.Context, spec providers.Spec) (providers.Provider, error) {
		*started = append(*started, spec)
		p := providertest.NewFake(spec.Package)
		p.OnParameterize = func(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
			return providers.ParameterizeResponse{Name: req.Args[1], Version: "3.0.0"}, nil
		}
		p.OnSchema = func(_ context.Context, req providers.SchemaRequest) (string, error) {
			base := `{"baseProvider": {"name": "base", "version": "1.0.0"}, "parameter": "eA=="}`
			switch req.SubpackageName {
			case "":
				return `{"name": "` + spec.Package + `", "version": "9.9.9"}`, nil
			case "more":
				return `{"name": "more", "version": "3.0.0", "extensionParameterization": ` + base + `}`, nil
			}
			return `{"name": "made", "version": "3.0.0", "parameterization": ` + base + `}`, nil
		}
		return p, nil
	})
	server := loopback.NewServer(t.Context(), func(r grpc.ServiceRegistrar) {
		loader.RegisterResolver(r, loader.ResolverOptions{
			Providers: host, Directory: func() string { return directory },
			Local: func(p plugin.ProjectPlugin) providers.Host {
				return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
					spec.Plugin = p.Directory
					return host.Load(ctx, spec)
				})
			},
		})
	}, func(string) {})
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return pulumirpc.NewPackageResolverClient(dial(t, server.Address)), started
}

func TestPackagesAreResolved(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "pulumi-resource-mine"), nil, 0o700))
	base := &pulumirpc.PackageParameterization{Name: "made", Version: "3.0.0", Value: []byte("x")}
	sums := map[string][]byte{"linux-amd64": {1}}
	for name, c := range map[string]struct {
		spec *pulumirpc.PackageSpec
		want *pulumirpc.PackageDependency
		as   providers.Spec // the started provider
	}{
		"by name": {
			&pulumirpc.PackageSpec{Source: "acme", Version: "v1.2.3", Server: "https://example.com", Checksums: sums},
			&pulumirpc.PackageDependency{Name: "acme", Kind: "resource", Version: "9.9.9", Server: "https://example.com", Checksums: sums},
			providers.Spec{Package: "acme", Version: "1.2.3", DownloadURL: "https://example.com", Checksums: sums},
		},
		"in a repository": {
			&pulumirpc.PackageSpec{Source: "github.com/example/things/shop@1.2.3"},
			&pulumirpc.PackageDependency{
				Name: "shop", Kind: "resource", Version: "9.9.9", Server: "git://github.com/example/things/shop",
			},
			providers.Spec{Package: "shop", Version: "1.2.3", DownloadURL: "git://github.com/example/things/shop"},
		},
		"in a folder": {
			&pulumirpc.PackageSpec{Source: "./."},
			&pulumirpc.PackageDependency{Name: "mine", Kind: "resource", Version: "9.9.9"},
			providers.Spec{Package: "mine", Plugin: directory},
		},
		"of parameters": {
			&pulumirpc.PackageSpec{Source: "base", Parameters: []string{"of", "made"}},
			&pulumirpc.PackageDependency{Name: "base", Kind: "resource", Version: "1.0.0", Parameterization: base},
			providers.Spec{Package: "base"},
		},
		"of parameters that extend": {
			&pulumirpc.PackageSpec{Source: "base", Parameters: []string{"extending", "more"}},
			&pulumirpc.PackageDependency{
				Name: "base", Kind: "resource", Version: "1.0.0",
				Extension: &pulumirpc.PackageParameterization{Name: "more", Version: "3.0.0", Value: []byte("x")},
			},
			providers.Spec{Package: "base"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, started := resolver(t, directory)
			got, err := client.ResolvePackage(t.Context(), c.spec)
			require.NoError(t, err)
			require.Equal(t, c.want.String(), got.String())
			c.as.OnlySchema = true
			require.Equal(t, []providers.Spec{c.as}, *started)
		})
	}
}

func TestWhatIsNoPackageIsNotResolved(t *testing.T) {
	client, started := resolver(t, t.TempDir())
	for text, said := range map[string]string{
		"org/repo": "registry is not read", "./absent": "no such file", "..": "neither an executable", "a b": "a b", "": "package",
		"github.com/example/things@": "neither a version",
	} {
		_, err := client.ResolvePackage(t.Context(), &pulumirpc.PackageSpec{Source: text})
		require.Equal(t, codes.InvalidArgument, status.Code(err), "%q: %v", text, err)
		require.ErrorContains(t, err, said)
	}
	_, err := client.ResolvePackage(t.Context(), &pulumirpc.PackageSpec{Source: "acme", Version: "new"})
	require.ErrorContains(t, err, `the version "new" is none`)
	require.Empty(t, *started)
}
