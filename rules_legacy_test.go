package sluice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

func TestLegacyDiffAsksNobodyAboutUnchangedInputs(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.options.Legacy.Diff = true
	require.Equal(t, []string{"check a"}, k.up(program(one(in{"size": 1}))).did())
	require.Equal(t, []string{"check a", "diff a", "update a"}, k.up(program(one(in{"size": 2}))).did())
}

func TestLegacyRefreshTellsAChangeByTheOutputsAlone(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		k := newKit(t)
		k.up(program(one(in{"size": 1})))
		k.options.Legacy.RefreshDiff = legacy
		k.fake = func(f *providertest.Fake) {
			f.OnRead = func(ctx context.Context, q providers.ReadRequest) (providers.ReadResponse, error) {
				res, err := f.Base.Read(ctx, q)
				res.Properties = res.Properties.With("seen", property.Bool(true))
				return res, err
			}
		}
		r := k.try(sluice.Refresh, nil)
		require.NoError(t, r.err)
		if legacy {
			require.Equal(t, []string{"read a"}, r.did())
			r.requireCounts(map[sluice.Op]int{sluice.OpUpdate: 1})
		} else {
			require.Equal(t, []string{"read a", "diff a"}, r.did())
			r.requireCounts(map[sluice.Op]int{sluice.OpSame: 1})
		}
		require.True(t, k.recorded("a").Outputs.At("seen").AsBool())
	}
}
