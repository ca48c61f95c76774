package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// thing registers a custom resource of package test.
func thing(ctx context.Context, m stages.Monitor, name string, inputs map[string]property.Value, deps ...urn.URN) (*stages.RegisterReply, error) {
	req := &stages.RegisterRequest{Type: "test:index:Thing", Name: name, Custom: true, Inputs: property.NewMap(inputs), Dependencies: deps, SupportsResultReporting: true}
	return m.Register(ctx, req)
}

func options(cloud *providertest.Cloud, st *sluice.MemoryState, p source.Func) sluice.Options {
	return sluice.Options{Stack: "dev", Project: "p", Program: p, Providers: cloud.Host(), State: st}
}

func opsOf(r *sluice.Result) []string {
	var out []string
	for _, s := range r.Steps() {
		out = append(out, string(s.Op)+" "+s.URN.Name())
	}
	return out
}

func TestUpdateCreatesUpdatesReplacesAndDeletes(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{Seed: 1})
	st := &sluice.MemoryState{}
	size := 1.0
	names := []string{"a", "b"}
	program := source.Func(func(ctx context.Context, m stages.Monitor) error {
		var deps []urn.URN
		for _, n := range names {
			r, err := thing(ctx, m, n, map[string]property.Value{"size": property.Number(size), "immutableX": property.String(n)}, deps...)
			if err != nil {
				return err
			}
			deps = []urn.URN{r.URN}
		}
		return nil
	})
	o := options(cloud, st, program)
	ctx := t.Context()

	res, err := sluice.Preview(ctx, o)
	require.NoError(t, err)
	require.Equal(t, []string{"create default", "create a", "create b"}, opsOf(res))
	require.Nil(t, st.Snapshot())

	res, err = sluice.Update(ctx, o)
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpCreate: 2}, res.Changes)
	require.Len(t, st.Snapshot().Resources, 3)

	res, err = sluice.Update(ctx, o)
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpSame: 2}, res.Changes)

	size = 2
	res, err = sluice.Update(ctx, o)
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpUpdate: 2}, res.Changes)

	names = []string{"a"}
	res, err = sluice.Update(ctx, o)
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpSame: 1, stages.OpDelete: 1}, res.Changes)

	res, err = sluice.Destroy(ctx, o)
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpDelete: 1}, res.Changes)
	require.Empty(t, st.Snapshot().Resources)
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Empty(t, records)
	require.Equal(t, 2, cloud.Count(providers.MethodDelete))
}
