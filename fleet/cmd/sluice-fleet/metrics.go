package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/sluice-iac/sluice/fleet/run"
)

// metrics sends metrics of runs and of Temporal's client to the destination in OpenTelemetry's standard variables.
type metrics struct {
	handler  client.MetricsHandler
	provider *sdkmetric.MeterProvider
}

// startMetrics begins to send metrics; it returns nil if the variables name no destination.
func startMetrics(ctx context.Context) (*metrics, error) {
	wanted := false
	for _, name := range []string{"OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"} {
		wanted = wanted || os.Getenv(name) != ""
	}
	if !wanted || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, nil
	}
	reader, err := autoexport.NewMetricReader(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; see OTEL_METRICS_EXPORTER and its like in the environment", err)
	}
	// The variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; see OTEL_METRICS_EXPORTER and its like in the environment", err)
	}
	p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about), sdkmetric.WithView(described()...))
	lost := func(error) {} // a run does not fail because of a metric
	return &metrics{opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: p.Meter("sluice-fleet"), OnError: lost, UseMonotonicCounters: true,
	}), p}, nil
}

// described returns views with the descriptions of the runs' metrics, for which Temporal's metrics interface has no
// parameter.
func described() []sdkmetric.View {
	var views []sdkmetric.View
	for name, text := range map[string]string{
		run.StacksMetric:   "Stacks that have ended, by operation and status.",
		run.DurationMetric: "How long stacks have taken for which something was done.",
		run.WaitMetric:     "How long stacks have waited for an approval or for a limit.",
		run.RetriesMetric:  "Attempts that have failed and are made again, by the kind of failure.",
	} {
		views = append(views, sdkmetric.NewView(sdkmetric.Instrument{Name: name}, sdkmetric.Stream{Description: text}))
	}
	return views
}

// end sends the remaining metrics. The receiver may be nil.
func (m *metrics) end() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = m.provider.Shutdown(ctx) // a run does not fail because of its metrics
}
