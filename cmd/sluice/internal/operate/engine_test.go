package operate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func TestOldBehaviourIsAskedForByTheEnvironment(t *testing.T) {
	env := map[string]string{}
	c := terminal.New(terminal.Streams{Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	require.Zero(t, legacy(c))
	env["PULUMI_DISABLE_RESOURCE_REFERENCES"] = "true"
	require.Equal(t, sluice.Legacy{NoResourceReferences: true}, legacy(c))
	env = map[string]string{"PULUMI_DISABLE_OUTPUT_VALUES": "1"}
	require.Equal(t, sluice.Legacy{NoOutputValues: true}, legacy(c))
}
