package sluice_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestAFailedImportDoesNotKeepDependentsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		imp := ""
		o := sluice.Options{Project: "shop", Stack: "dev", State: &sluice.MemoryState{}, ContinueOnError: true,
			Providers: providertest.NewCloud(providertest.Options{}).Host(),
			Program: sluice.ProgramFunc(func(ctx context.Context, m stages.Monitor) error {
				a, err := m.Register(ctx, &stages.RegisterRequest{Type: "simple:index:Thing", Name: "a", Custom: true, ImportID: imp, SupportsResultReporting: true})
				if err != nil {
					return err
				}
				_, err = m.Register(ctx, &stages.RegisterRequest{Type: "simple:index:Thing", Name: "b", Custom: true, Dependencies: []urn.URN{a.URN}, SupportsResultReporting: true})
				return err
			})}
		_, err := sluice.Update(t.Context(), o)
		require.NoError(t, err)
		imp = "nosuch"
		_, err = sluice.Update(t.Context(), o)
		require.Error(t, err)
	})
}
