package loopback

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// spans returns the server option for a trace: the context of each call has the span that the caller names.
func spans(ctx context.Context) []grpc.ServerOption {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	return []grpc.ServerOption{grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			sent, _ := metadata.FromIncomingContext(ctx)
			return handle(propagation.TraceContext{}.Extract(ctx, headers(sent)), req)
		})}
}

// headers are the headers of a call.
type headers metadata.MD

// Get returns the first value of a header.
func (h headers) Get(name string) string {
	if list := metadata.MD(h).Get(name); len(list) > 0 {
		return list[0]
	}
	return ""
}

// Set does nothing: headers are only read.
func (headers) Set(string, string) {}

// Keys returns nothing, because no reader of spans uses it.
func (headers) Keys() []string { return nil }
