package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
)

// counting is a loader whose providers count how often they are closed.
type counting struct{ closed map[string]int }

func (c *counting) Prepare(context.Context, providers.Spec) error { return nil }

func (c *counting) Load(_ context.Context, spec providers.Spec) (providers.Provider, error) {
	return &counted{Unimplemented: providers.Unimplemented{PackageName: spec.Package}, of: c}, nil
}

type counted struct {
	providers.Unimplemented
	of *counting
}

func (c *counted) Close() error {
	c.of.closed[c.PackageName]++
	return nil
}

func TestAHostKeepsNoProviderThatIsClosed(t *testing.T) {
	h, c := NewPluginHost(PluginOptions{}), &counting{closed: map[string]int{}}
	h.host = c
	for range 3 { // operations
		for _, spec := range []providers.Spec{{Package: "closed"}, {Package: "schema", OnlySchema: true}} {
			p, err := h.Load(t.Context(), spec)
			require.NoError(t, err)
			require.Equal(t, spec.Package, p.Package())
			require.NoError(t, p.Close())
		}
	}
	require.Empty(t, h.open)
	_, err := h.Load(t.Context(), providers.Spec{Package: "left"})
	require.NoError(t, err)
	require.NoError(t, h.Close())
	require.Equal(t, map[string]int{"closed": 3, "schema": 3, "left": 1}, c.closed)
	require.Empty(t, h.open)
}
