package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// serve serves the schemas of a host, and returns the number of started providers.
func serve(t *testing.T, o loader.Options) (client codegenrpc.LoaderClient, started *atomic.Int32) {
	t.Helper()
	o.Providers, started = host()
	server := loader.NewServer(t.Context(), o)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return codegenrpc.NewLoaderClient(dial(t, server.Address)), started
}

// host starts providers with various schemas, and counts them.
func host() (h providers.Host, started *atomic.Int32) {
	started = &atomic.Int32{}
	return providers.HostFunc(func(_ context.Context, spec providers.Spec) (providers.Provider, error) {
		started.Add(1)
		p := providertest.NewFake(spec.Package)
		p.OnSchema = func(_ context.Context, req providers.SchemaRequest) (string, error) {
			switch spec.Package {
			case "none":
				return "", providers.ErrUnsupported
			case "garbage":
				return "garbage", nil
			case "silent":
				return `{"name": "silent"}`, nil
			}
			value := ""
			if spec.Parameterization != nil {
				value = string(spec.Parameterization.Value)
			}
			return fmt.Sprintf(`{"name": %q, "version": "9.9.9", "description": "%s %s %s %s%s"}`, spec.Package, spec.Version,
				spec.DownloadURL, value, req.SubpackageName, req.SubpackageVersion), nil
		}
		return p, nil
	}), started
}

func dial(t *testing.T, at func() (string, error)) *grpc.ClientConn {
	t.Helper()
	address, err := at()
	require.NoError(t, err)
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func schema(t *testing.T, c codegenrpc.LoaderClient, req *codegenrpc.GetSchemaRequest) (name, version, description string) {
	t.Helper()
	answer, err := c.GetSchema(t.Context(), req)
	require.NoError(t, err)
	var has struct{ Name, Version, Description string }
	require.NoError(t, json.Unmarshal(answer.GetSchema(), &has))
	return has.Name, has.Version, has.Description
}

func TestSchemasAreThoseOfTheProviders(t *testing.T) {
	c, started := serve(t, loader.Options{})
	plain := &codegenrpc.GetSchemaRequest{Package: "acme", Version: "v1.2.3", DownloadUrl: "https://example.com"}
	for range 2 {
		_, version, description := schema(t, c, plain)
		require.Equal(t, "9.9.9", version)
		require.Equal(t, "1.2.3 https://example.com  ", description)
	}
	require.EqualValues(t, 1, started.Load(), "it is asked once")

	name, _, description := schema(t, c, &codegenrpc.GetSchemaRequest{
		Package: "bridge", Version: "1.0.0", Parameterization: &codegenrpc.Parameterization{Name: "made", Version: "2.0.0", Value: []byte("it")},
	})
	require.Equal(t, "made", name)
	require.Equal(t, "2.0.0  it made2.0.0", description)
}

func TestASchemaWithoutAVersionGetsTheOneThatWasAskedFor(t *testing.T) {
	c, _ := serve(t, loader.Options{})
	_, version, _ := schema(t, c, &codegenrpc.GetSchemaRequest{Package: "silent", Version: "1.2.3"})
	require.Equal(t, "1.2.3", version)
	_, version, _ = schema(t, c, &codegenrpc.GetSchemaRequest{Package: "silent"})
	require.Empty(t, version)
}

func TestKnownSchemasNeedNoProvider(t *testing.T) {
	c, started := serve(t, loader.Options{Known: []loader.Known{{Package: "acme", Version: "1.0.0", Schema: `{"name": "acme", "version": "1.0.0"}`}}})
	_, version, _ := schema(t, c, &codegenrpc.GetSchemaRequest{Package: "acme", Version: "1.0.0"})
	require.Equal(t, "1.0.0", version)
	name, _, _ := schema(t, c, &codegenrpc.GetSchemaRequest{Package: "pulumi"})
	require.Equal(t, "pulumi", name)
	require.Zero(t, started.Load())
	_, version, _ = schema(t, c, &codegenrpc.GetSchemaRequest{Package: "acme", Version: "1.0.1"})
	require.Equal(t, "9.9.9", version, "another version is another package")
}

func TestQuestionsThatCannotBeAnswered(t *testing.T) {
	c, _ := serve(t, loader.Options{})
	for name, fault := range map[string]struct {
		req  *codegenrpc.GetSchemaRequest
		code codes.Code
		text string
	}{
		"a path":       {&codegenrpc.GetSchemaRequest{Package: "../x"}, codes.InvalidArgument, "../x"},
		"no version":   {&codegenrpc.GetSchemaRequest{Package: "acme", Version: "new"}, codes.InvalidArgument, `the version "new" is none`},
		"no schema":    {&codegenrpc.GetSchemaRequest{Package: "none"}, codes.NotFound, "does not support"},
		"not a schema": {&codegenrpc.GetSchemaRequest{Package: "garbage"}, codes.Unknown, `the schema of the package "garbage" is not JSON`},
		"a parameterization without a version that is one": {&codegenrpc.GetSchemaRequest{
			Package: "acme", Parameterization: &codegenrpc.Parameterization{Name: "x", Version: "?"},
		}, codes.InvalidArgument, `the version "?" is none`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.GetSchema(t.Context(), fault.req)
			require.Equal(t, fault.code, status.Code(err), err)
			require.ErrorContains(t, err, fault.text)
		})
	}
}
