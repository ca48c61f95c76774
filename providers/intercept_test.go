package providers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// creating is a provider that only creates.
type creating struct {
	providers.Unimplemented
}

func (creating) Package() string { return "test" }

func (creating) Create(_ context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	return providers.CreateResponse{ID: "1", Properties: req.Properties}, nil
}

func (creating) Delete(context.Context, providers.DeleteRequest) error { return errors.New("in use") }

func TestAnInterceptorSeesTheRequestAndMayChangeTheResponse(t *testing.T) {
	u := urn.New("dev", "p", "", "test:index:T", "a")
	var methods []string
	p := providers.Intercept(creating{}, func(ctx context.Context, c *providers.Call) error {
		require.Equal(t, u, c.URN)
		methods = append(methods, c.Method)
		err := c.Do(ctx)
		if res, is := c.Response.(*providers.CreateResponse); is {
			require.Equal(t, "small", c.Request.(*providers.CreateRequest).Properties.At("size").AsString())
			res.ID += "!"
		}
		if err != nil {
			return errors.Join(err, errors.New("seen"))
		}
		return nil
	})
	inputs := property.NewMap(map[string]property.Value{"size": property.String("small")})
	res, err := p.Create(t.Context(), providers.CreateRequest{URN: u, Properties: inputs})
	require.NoError(t, err)
	require.Equal(t, "1!", res.ID)
	require.EqualError(t, p.Delete(t.Context(), providers.DeleteRequest{URN: u}), "in use\nseen")
	require.Equal(t, []string{"Create", "Delete"}, methods)
	require.Equal(t, "test", p.Package())
}

func TestAnInterceptedCallOfAResourceAllocatesNothing(t *testing.T) {
	p := providers.Intercept(creating{}, func(ctx context.Context, c *providers.Call) error { return c.Do(ctx) })
	allocations := testing.AllocsPerRun(100, func() { _, _ = p.Create(context.Background(), providers.CreateRequest{}) })
	require.Less(t, allocations, 1.0) // on average: a garbage collection empties the pools
}

func TestACallHasNothingOfTheOneBefore(t *testing.T) {
	call := true
	p := providers.Intercept(creating{}, func(ctx context.Context, c *providers.Call) error {
		require.Zero(t, *c.Response.(*providers.CreateResponse))
		if call {
			return c.Do(ctx)
		}
		return nil
	})
	res, err := p.Create(t.Context(), providers.CreateRequest{})
	require.NoError(t, err)
	require.Equal(t, "1", res.ID)
	call = false
	res, err = p.Create(t.Context(), providers.CreateRequest{})
	require.NoError(t, err)
	require.Zero(t, res)
}
