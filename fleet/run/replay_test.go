package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/run"
)

// Runs that an earlier version has begun continue with this one: the present workflows replay their histories, which e2e has recorded with
// -fleet.record.
func TestHistoriesOfEarlierVersionsAreReplayed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 15)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			run.Register(r)
			text, err := os.Open(f)
			require.NoError(t, err)
			defer func() { require.NoError(t, text.Close()) }()
			history, err := client.HistoryFromJSON(text, client.HistoryJSONOptions{})
			require.NoError(t, err)
			// The IDs of children derive from that of the run.
			id := history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
			require.NotEmpty(t, id)
			require.NoError(t, r.ReplayWorkflowHistoryWithOptions(nil, history, worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: id}}))
		})
	}
}
