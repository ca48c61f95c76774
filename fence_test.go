package sluice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
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
