package sluice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func stackWith(stack string, names ...string) *state.Snapshot {
	s := &state.Snapshot{Manifest: state.Manifest{Version: "t", Magic: state.Magic("t")}}
	for _, n := range names {
		s.Resources = append(s.Resources, &state.Resource{URN: urn.New(stack, "shop", "", "a:b:C", n), Type: "a:b:C", Custom: true, ID: n})
	}
	return s
}

func TestAMoveToAStackThatWasNeverDeployedMakesAValidState(t *testing.T) {
	source := stackWith("dev", "a")
	m, err := sluice.MoveResources(context.Background(), source, nil, source.Resources, state.MoveOptions{Stack: "prod", Project: "shop"})
	require.NoError(t, err)
	require.NoError(t, state.Verify(m.Dest))
	require.False(t, m.Dest.Manifest.Time.IsZero())
}
