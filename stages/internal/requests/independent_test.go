package requests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func TestResourcesWithTheSamePropertiesShareTheirDependencies(t *testing.T) {
	of := func(names ...string) property.Map {
		m := map[string]property.Value{}
		for _, n := range names {
			m[n] = property.String(n)
		}
		return property.NewMap(m)
	}
	var i independent
	first := i.of("a:b:C", of("x", "y"))
	require.Equal(t, map[string][]urn.URN{"x": {}, "y": {}}, first)
	same, typ := of("x", "y"), urn.Type("a:b:C")
	require.Zero(t, testing.AllocsPerRun(10, func() { i.of(typ, same) }))
	for _, other := range []property.Map{of("x"), of("x", "z"), of("x", "y", "z")} {
		require.Len(t, i.of("a:b:C", other), other.Len())
		for name := range other.All() {
			require.Contains(t, i.of("a:b:C", other), name)
		}
	}
	require.Equal(t, map[string][]urn.URN{"x": {}, "y": {}}, first, "it is shared")
}
