package refresh

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

func TestARefreshSaysWhatItFound(t *testing.T) {
	resource := &state.Resource{Type: "x:index:T", Custom: true}
	drift := providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"size"}}
	require.Equal(t, stages.Reason{Kind: stages.ReasonVanished, By: stages.ByRead}, foundReason(stages.OpDelete, resource, drift))
	require.Equal(t, stages.Reason{Kind: stages.ReasonDrift, Properties: []string{"size"}, By: stages.ByRead}, foundReason(stages.OpUpdate, resource, drift))
	require.Equal(t, stages.Reason{Kind: stages.ReasonUnchanged, By: stages.ByRead}, foundReason(stages.OpSame, resource, drift))
}

func TestARefreshReadsNeitherComponentsNorProviders(t *testing.T) {
	for _, res := range []*state.Resource{{Type: "my:C"}, {Type: "pulumi:providers:x", Custom: true}} {
		require.Equal(t, stages.Reason{Kind: stages.ReasonUnchanged}, foundReason(stages.OpSame, res, providers.DiffResponse{}))
	}
}
