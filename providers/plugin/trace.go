package plugin

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// spanHeaders returns the headers that describe the current span to others: "traceparent" and those that belong to it. It returns nil
// if there is no span.
func spanHeaders(ctx context.Context) map[string]string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	return headers
}

// traced returns the environment of a process that runs within the span of ctx. A nil environment is that of the engine.
func traced(ctx context.Context, environment []string) []string {
	headers := spanHeaders(ctx)
	if headers == nil {
		return environment
	}
	if environment == nil {
		environment = os.Environ()
	}
	environment = slices.Clone(environment)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		environment = append(environment, strings.ToUpper(name)+"="+headers[name])
	}
	return environment
}
