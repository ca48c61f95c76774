package sluice_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
)

func TestNothingIsRecordedBehindACutFence(t *testing.T) {
	memory := &sluice.MemoryState{}
	fence := sluice.NewFence(memory)
	recorder, err := fence.Record(t.Context(), nil)
	require.NoError(t, err)
	r := &state.Resource{URN: "urn:pulumi:s::p::t::n", Type: "t"}
	require.NoError(t, recorder.Begin(t.Context(), state.Pending{Type: state.Creating, Resource: r}))
	require.NoError(t, fence.Cut(t.Context()))
	require.ErrorIs(t, recorder.End(t.Context(), state.Change{Begun: r, Add: r}), sluice.ErrFenced)
	require.ErrorIs(t, recorder.Begin(t.Context(), state.Pending{Type: state.Creating, Resource: r}), sluice.ErrFenced)
	require.ErrorIs(t, recorder.Rebase(t.Context(), nil), sluice.ErrFenced)
	require.ErrorIs(t, recorder.Close(t.Context()), sluice.ErrFenced)
	require.NoError(t, fence.Cut(t.Context()), "a second time does nothing")
	require.Empty(t, memory.Snapshot().Resources)
	require.Equal(t, []state.Pending{{Type: state.Creating, Resource: r}}, memory.Snapshot().Pending)
	_, err = fence.Record(t.Context(), nil)
	require.ErrorIs(t, err, sluice.ErrFenced)
}

// A run that has lost the lock of its stack begins nothing more; what it had begun is recorded.
func TestARunThatHasLostItsLockBeginsNothing(t *testing.T) {
	memory := &sluice.MemoryState{}
	fence := sluice.NewFence(memory)
	lost := errors.New("the lock was lost")
	begun := 0
	fence.Guard(func(context.Context) error {
		if begun++; begun > 2 { // the default provider and the first resource
			return lost
		}
		return nil
	})
	cloud := providertest.NewCloud(providertest.Options{})
	_, err := sluice.Update(t.Context(), sluice.Options{
		Project: "shop", Stack: "dev", State: fence, Providers: cloud.Host(),
		Program: program(func(s *script) {
			s.thing("first", nil)
			s.thing("second", nil)
		}),
	})
	require.ErrorContains(t, err, lost.Error())
	records, _ := cloud.Records()
	require.Len(t, records, 1)
	var names []string
	for _, r := range memory.Snapshot().Resources {
		names = append(names, r.URN.Name())
	}
	require.Contains(t, names, "first")
	require.NotContains(t, names, "second")
	require.Empty(t, memory.Snapshot().Pending)
}
