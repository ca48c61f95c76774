package sluice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

func TestAnUpdateWarnsOfPendingOperationsAndAPreviewDoesNot(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	lost := &state.Resource{URN: "urn:pulumi:dev::proj::simple:index:Thing::lost", Type: "simple:index:Thing", Custom: true}
	st := sluice.NewMemoryState(&state.Snapshot{Pending: []state.Pending{{Type: state.Creating, Resource: lost}}})
	o := options(cloud, st, source.Func(func(context.Context, stages.Monitor) error { return nil }))
	var warnings []string
	o.Observe = func(e sluice.Event) {
		if d, ok := e.(sluice.Diagnostic); ok && d.Severity == sluice.Warning {
			warnings = append(warnings, d.Message)
		}
	}

	_, err := sluice.Preview(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, warnings)

	_, err = sluice.Update(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "with 1 pending operations from previous deployment.\n  * "+string(lost.URN)+", interrupted while creating\n")
	require.Len(t, st.Snapshot().Pending, 1, "nobody has looked what became of it")
}
