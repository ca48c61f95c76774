package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/run"
)

func TestPredictedOutputsAreReadAsAPreviewWritesThem(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planned.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"set":{"subnets":"04da6b54-80e4-46f7-96ec-b56ff0331ba9","zone":{"a":[1,"z1"]}},"removed":["old"]}`+"\n"), 0o600))
	p, err := readPlanned(file)
	require.NoError(t, err)
	require.Equal(t, run.Planned{
		Set:     map[string]json.RawMessage{"subnets": json.RawMessage(`"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`), "zone": json.RawMessage(`{"a":[1,"z1"]}`)},
		Removed: []string{"old"},
	}, p)
}
