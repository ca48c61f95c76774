package timing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Metrics measures running and finished spans with OpenTelemetry instruments.
type Metrics struct {
	operations, calls, waits metric.Float64Histogram
	steps                    metric.Int64Counter
	running                  metric.Int64UpDownCounter
}

// NewMetrics makes the instruments.
func NewMetrics(m metric.Meter) (*Metrics, error) {
	var errs [5]error
	out := &Metrics{}
	// The default buckets are for milliseconds.
	buckets := metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
	seconds := metric.WithUnit("s")
	out.operations, errs[0] = m.Float64Histogram("sluice.operation.duration", seconds, buckets, metric.WithDescription("How long operations take."))
	out.calls, errs[1] = m.Float64Histogram("sluice.provider.call.duration", seconds, buckets, metric.WithDescription("How long calls of providers take."))
	out.waits, errs[2] = m.Float64Histogram("sluice.limit.wait.duration", seconds, buckets,
		metric.WithDescription("How long calls of providers, and steps without a worker, wait for a limit."))
	out.steps, errs[3] = m.Int64Counter("sluice.steps", metric.WithUnit("{step}"), metric.WithDescription("Steps that are over."))
	out.running, errs[4] = m.Int64UpDownCounter("sluice.steps.running", metric.WithUnit("{step}"), metric.WithDescription("Steps that are taken."))
	return out, errors.Join(errs[:]...)
}

func (m *Metrics) began(s *span) {
	if s.kind == kindStep {
		m.running.Add(context.Background(), 1, metric.WithAttributes(attribute.String("sluice.op", s.op)))
	}
}

func (m *Metrics) ended(s *span) {
	ctx := context.Background()
	took := s.duration().Seconds()
	outcome := attribute.String("sluice.outcome", "done")
	switch {
	case s.unfinished:
		outcome = attribute.String("sluice.outcome", "unfinished")
	case s.failed:
		outcome = attribute.String("sluice.outcome", "failed")
	}
	op := attribute.String("sluice.op", s.op)
	switch s.kind {
	case kindOperation:
		m.operations.Record(ctx, took, metric.WithAttributes(attribute.String("sluice.operation", s.name), outcome))
	case kindCall:
		m.calls.Record(ctx, took, metric.WithAttributes(
			attribute.String("sluice.package", s.pkg), attribute.String("rpc.method", s.method), attribute.String("sluice.type", string(s.typ)), outcome))
	case kindWait:
		m.waits.Record(ctx, took, metric.WithAttributes(attribute.String("sluice.limit", s.limit)))
	case kindStep:
		m.running.Add(ctx, -1, metric.WithAttributes(op))
		m.steps.Add(ctx, 1, metric.WithAttributes(op, outcome, attribute.String("sluice.type", string(s.typ))))
	case kindResource:
		if s.op == "same" { // it has no steps
			m.steps.Add(ctx, 1, metric.WithAttributes(op, outcome, attribute.String("sluice.type", string(s.typ))))
		}
	}
}
