package providers_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
)

func TestNoProviderIsCalledWithAnUnknownOutsideOfPreviews(t *testing.T) {
	called := 0
	fake := providertest.NewFake("x")
	fake.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return nil }
	fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
		called++
		return providers.CreateResponse{ID: "i"}, nil
	}
	fake.OnDelete = func(_ context.Context, req providers.DeleteRequest) error {
		called++
		require.True(t, req.Outputs.IsKnown(), "what another tool has recorded is left out")
		return nil
	}
	host := providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return fake, nil })
	registry := providers.NewRegistry(t.Context(), host, providers.RegistryOptions{})
	t.Cleanup(func() { require.NoError(t, registry.Close()) })
	p, err := registry.Ensure(t.Context(), urn.ProviderRef{URN: urn.New("dev", "p", "", "pulumi:providers:x", "main"), ID: "1"}, property.Map{})
	require.NoError(t, err)

	unknown := property.NewMap(map[string]property.Value{"a": property.ArrayOf(property.Secret(property.Computed()))})
	var refused *providers.UnknownError
	_, err = p.Check(t.Context(), providers.CheckRequest{URN: "u", News: unknown})
	require.ErrorAs(t, err, &refused)
	_, err = p.Create(t.Context(), providers.CreateRequest{URN: "u", Properties: unknown})
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "a[0]", refused.Property.String())
	_, err = p.Update(t.Context(), providers.UpdateRequest{URN: "u", ID: "i", NewInputs: unknown})
	require.ErrorAs(t, err, &refused)
	_, err = p.Invoke(t.Context(), providers.InvokeRequest{Token: "x:index:f", Args: unknown})
	require.ErrorAs(t, err, &refused)
	_, err = p.Call(t.Context(), providers.CallRequest{Token: "x:index:f", Args: unknown})
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, p.Delete(t.Context(), providers.DeleteRequest{URN: "u", ID: urn.UnknownID}), "mark of an unknown value")
	require.Zero(t, called)

	require.NoError(t, p.Delete(t.Context(), providers.DeleteRequest{URN: "u", ID: "i", Outputs: unknown}))
	_, err = p.Create(t.Context(), providers.CreateRequest{URN: "u", Properties: unknown, Preview: true})
	require.NoError(t, err)
	require.Equal(t, 2, called)
}
