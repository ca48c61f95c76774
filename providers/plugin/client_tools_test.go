package plugin_test

import (
	"context"
	"errors"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
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
