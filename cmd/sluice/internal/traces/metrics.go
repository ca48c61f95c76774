package traces

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// metrics are the metrics of a command.
type metrics struct {
	place    destination
	patience time.Duration
	provider *sdkmetric.MeterProvider
	exporter *tolerant
}

// end sends the remaining metrics. Its error reports that metrics are missing. The receiver may be nil.
func (m *metrics) end() error {
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.patience)
	defer cancel()
	err := m.provider.Shutdown(ctx)
	if first := m.exporter.failed.Load(); first != nil {
		err = *first
	}
	if err != nil {
		return m.place.missing("metrics", err)
	}
	return nil
}

// tolerant is an exporter that keeps its first error. It ignores a collector that accepts no metrics: many accept only traces, and the user
// has not requested metrics explicitly.
type tolerant struct {
	sdkmetric.Exporter
	failed atomic.Pointer[error]
}

// Export implements [sdkmetric.Exporter].
func (t *tolerant) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	err := t.Exporter.Export(ctx, data)
	if err != nil && !isUnknown(err) {
		t.failed.CompareAndSwap(nil, &err)
	}
	return nil // end returns the error
}

// isUnknown reports whether a collector does not support metrics.
func isUnknown(err error) bool {
	if s, ok := status.FromError(err); ok {
		return s.Code() == codes.Unimplemented
	}
	var at *url.Error
	return !errors.As(err, &at) && (strings.Contains(err.Error(), "404 Not Found") || strings.Contains(err.Error(), "405 Method Not Allowed"))
}
