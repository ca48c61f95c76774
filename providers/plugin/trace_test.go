package plugin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

func TestCallsTellTheirSpan(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx := watcher{}.TagRPC(trace.ContextWithSpanContext(metadata.AppendToOutgoingContext(t.Context(), "other", "x"), span), nil)
	sent, _ := metadata.FromOutgoingContext(ctx)
	require.Equal(t, []string{"00-01000000000000000000000000000000-0200000000000000-01"}, sent.Get("traceparent"))
	require.Equal(t, []string{"x"}, sent.Get("other"))

	sent, _ = metadata.FromOutgoingContext(watcher{dialed: span}.TagRPC(t.Context(), nil))
	require.Equal(t, []string{"00-01000000000000000000000000000000-0200000000000000-01"}, sent.Get("traceparent"), "of the connection")
	own := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{3}, TraceFlags: trace.FlagsSampled})
	sent, _ = metadata.FromOutgoingContext(watcher{dialed: span}.TagRPC(trace.ContextWithSpanContext(t.Context(), own), nil))
	require.Equal(t, []string{"00-01000000000000000000000000000000-0300000000000000-01"}, sent.Get("traceparent"), "of the call")
}

func TestCallsWithoutASpanCostNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), watchKey{}, &watch{})
	require.Equal(t, ctx, watcher{}.TagRPC(ctx, nil))
	require.Zero(t, testing.AllocsPerRun(100, func() { watcher{}.TagRPC(ctx, nil) }))
}
