package plugin_test

import (
	"context"
	"errors"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/stretchr/testify/require"
)

func TestMappingsAreThoseOfTheProvider(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnMappings = func(_ context.Context, key string) ([]string, error) { return []string{key + "-a", key + "-b"}, nil }
	fake.OnMapping = func(_ context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
		if req.Provider == "none" {
			return providers.MappingResponse{}, errors.New("there is no such provider")
		}
		return providers.MappingResponse{Provider: req.Provider, Data: []byte("names for " + req.Key)}, nil
	}
	c, _ := attached(t, fake, 4<<20)
	list, err := c.Mappings(t.Context(), "terraform")
	require.NoError(t, err)
	require.Equal(t, []string{"terraform-a", "terraform-b"}, list)
	answer, err := c.Mapping(t.Context(), providers.MappingRequest{Key: "terraform", Provider: "terraform-b"})
	require.NoError(t, err)
	require.Equal(t, providers.MappingResponse{Provider: "terraform-b", Data: []byte("names for terraform")}, answer)
	_, err = c.Mapping(t.Context(), providers.MappingRequest{Key: "terraform", Provider: "none"})
	require.ErrorContains(t, err, "there is no such provider")
}

func TestAPluginWithoutTheCallsHasNoMappings(t *testing.T) {
	c, _ := attachedServer(t, pulumirpc.UnimplementedResourceProviderServer{})
	list, err := c.Mappings(t.Context(), "terraform")
	require.NoError(t, err)
	require.Empty(t, list)
	answer, err := c.Mapping(t.Context(), providers.MappingRequest{Key: "terraform"})
	require.NoError(t, err)
	require.Zero(t, answer)
}

func TestResourcesAreListedPageByPage(t *testing.T) {
	fake := providertest.NewFake("simple")
	var asked []providers.ListRequest
	fake.OnList = func(_ context.Context, req providers.ListRequest) (providers.ListResponse, error) {
		asked = append(asked, req)
		switch {
		case req.Query.HasUnknowns():
			return providers.ListResponse{Unknown: true}, nil
		case req.Type == "simple:index:Nameless":
			return providers.ListResponse{Resources: []providers.Listed{{Name: "x"}}}, nil
		case req.Type == "simple:index:Broken":
			return providers.ListResponse{}, errors.New("the cloud is down")
		case req.Continuation == "":
			return providers.ListResponse{Resources: []providers.Listed{{ID: "1", Name: "one"}, {ID: "2"}}, Continuation: "next"}, nil
		}
		return providers.ListResponse{Resources: []providers.Listed{{ID: "3"}}}, nil
	}
	c, _ := attached(t, fake, 4<<20)
	req := providers.ListRequest{Type: thing, Query: object("a", "b"), Limit: 7, PageSize: 2}
	page, err := c.List(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, providers.ListResponse{Resources: []providers.Listed{{ID: "1", Name: "one"}, {ID: "2"}}, Continuation: "next"}, page)
	requireSame(t, req.Query, asked[0].Query)
	require.EqualValues(t, 7, asked[0].Limit)
	require.EqualValues(t, 2, asked[0].PageSize)
	req.Continuation = page.Continuation
	page, err = c.List(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, providers.ListResponse{Resources: []providers.Listed{{ID: "3"}}}, page)
	page, err = c.List(t.Context(), providers.ListRequest{Type: thing, Query: object("a", property.Computed())})
	require.NoError(t, err)
	require.Equal(t, providers.ListResponse{Unknown: true}, page)
	_, err = c.List(t.Context(), providers.ListRequest{Type: "simple:index:Nameless"})
	require.ErrorContains(t, err, "answered with a resource that has no ID; this is a bug in the provider")
	_, err = c.List(t.Context(), providers.ListRequest{Type: "simple:index:Broken"})
	require.EqualError(t, err, "the cloud is down")
	old, _ := attachedServer(t, pulumirpc.UnimplementedResourceProviderServer{})
	_, err = old.List(t.Context(), req)
	require.ErrorIs(t, err, providers.ErrUnsupported)
}

// TestTheHandshakeSaysWhatTheEngineCanDo is about protocol.md 1.8 and 1.9: an attached plugin gets no directories.
func TestTheHandshakeSaysWhatTheEngineCanDo(t *testing.T) {
	_, seen := attached(t, providertest.NewFake("simple"), 4<<20)
	req := last[*pulumirpc.ProviderHandshakeRequest](t, seen, "Handshake")
	require.Equal(t, "127.0.0.1:1", req.GetEngineAddress())
	require.True(t, req.GetConfigureWithUrn() && req.GetSupportsViews() && req.GetSupportsRefreshBeforeUpdate() && req.GetInvokeWithPreview())
	require.Nil(t, req.RootDirectory)
	require.Nil(t, req.ProgramDirectory)
	require.Equal(t, "127.0.0.1:1", last[*pulumirpc.PluginAttach](t, seen, "Attach").GetAddress())
}
