package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/testing/freeport"
)

// Prometheus' own parser reads a worker's metrics, and its linter accepts ours.
func TestPrometheusReadsTheMetricsOfAWorker(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	q := *p
	port := freeport.MustGetFreePort()
	q.env = append(p.env[:len(p.env):len(p.env)], "OTEL_METRICS_EXPORTER=prometheus", fmt.Sprintf("OTEL_EXPORTER_PROMETHEUS_PORT=%d", port))
	w := q.startWorker()
	defer w.kill()
	p.fleet("up", "--yes", "--no-worker")
	reply, err := http.Get(fmt.Sprintf("http://localhost:%d/metrics", port))
	require.NoError(t, err)
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusOK, reply.StatusCode)

	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err, "%s", text)
	stacks := families["sluice_fleet_stacks_total"]
	require.NotNil(t, stacks, "%s", text)
	require.Equal(t, "COUNTER", stacks.GetType().String())
	require.Len(t, stacks.GetMetric(), 1)
	require.InDelta(t, 3, stacks.GetMetric()[0].GetCounter().GetValue(), 0)
	labels := map[string]string{}
	for _, l := range stacks.GetMetric()[0].GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	require.Subset(t, labels, map[string]string{"fleet": "shop", "operation": "up", "status": "succeeded"})
	took := families["sluice_fleet_stack_duration_seconds"]
	require.NotNil(t, took, "%s", text)
	require.EqualValues(t, 3, took.GetMetric()[0].GetHistogram().GetSampleCount())

	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	require.NoError(t, err)
	for _, problem := range problems {
		require.False(t, strings.HasPrefix(problem.Metric, "sluice_"), "%s: %s", problem.Metric, problem.Text)
	}
}
