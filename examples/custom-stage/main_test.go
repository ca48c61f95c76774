package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// The window ends on a Monday.
var until = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

func deployedBefore(t *testing.T, now time.Time) deployer {
	t.Helper()
	d := deployer{
		cloud: providertest.NewCloud(providertest.Options{}), state: &sluice.MemoryState{}, until: until,
		now: func() time.Time { return now },
	}
	_, err := d.deploy(t.Context(), server{"debian-12", 1})
	require.NoError(t, err)
	return d
}

func TestAReplacementIsRefusedInTheWindow(t *testing.T) {
	d := deployedBefore(t, until.Add(-time.Hour))
	_, err := d.deploy(t.Context(), server{"debian-13", 1})

	var refused *stages.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "web", refused.URN.Name())
	require.EqualError(t, refused, "replacements are frozen until Monday")
	require.Equal(t, 1, d.cloud.Count(providers.MethodCreate))
	require.Zero(t, d.cloud.Count(providers.MethodDelete))
	records, err := d.cloud.Records()
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, property.String("debian-12"), records[0].Inputs.At("immutableImage"))
}

func TestAnUpdatePassesInTheWindow(t *testing.T) {
	d := deployedBefore(t, until.Add(-time.Hour))
	result, err := d.deploy(t.Context(), server{"debian-12", 2})
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpUpdate: 1}, result.Changes)
}

func TestNothingIsDeletedInTheWindow(t *testing.T) {
	now := until.Add(-time.Hour)
	d := deployedBefore(t, now)
	d.now = func() time.Time { return now }
	_, err := d.engine(server{}).Destroy(t.Context())
	var refused *stages.RefusedError
	require.ErrorAs(t, err, &refused)
	require.EqualError(t, refused, "deletes are frozen until Monday")
	require.Zero(t, d.cloud.Count(providers.MethodDelete))

	now = until
	_, err = d.engine(server{}).Destroy(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, d.cloud.Count(providers.MethodDelete))
}

func TestAReplacementPassesAfterTheWindow(t *testing.T) {
	d := deployedBefore(t, until)
	result, err := d.deploy(t.Context(), server{"debian-13", 1})
	require.NoError(t, err)
	require.Equal(t, map[stages.Op]int{stages.OpReplace: 1}, result.Changes)
}

func TestTheWindowEndsOnTheNextMonday(t *testing.T) {
	for name, now := range map[string]time.Time{
		"in the middle of the week": time.Date(2026, time.May, 27, 13, 0, 0, 0, time.UTC),
		"on the Sunday":             time.Date(2026, time.May, 31, 23, 59, 0, 0, time.UTC),
		"a week before":             time.Date(2026, time.May, 25, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, until, nextMonday(now)) })
	}
}
