package plugin

import (
	"context"
	"runtime"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

// watch records how far one call has got. The code of its error does not show that: "unavailable" may be the provider's
// own answer, or the engine's error for a broken connection.
type watch struct {
	// sent is true once the request may have reached the provider, begun once an answer has begun, answered once the provider
	// has reported the end of the call.
	sent, begun, answered atomic.Bool
	// detailed is true if the provider gave its error details, whether or not they can be read.
	detailed atomic.Bool
	// length is the number of bytes of the answer.
	length atomic.Int64
}

// collectFrom is the length of an answer from which on its copies are collected at once.
const collectFrom = 64 << 20

// collect frees the copies that gRPC has made of a very long answer: its frames, and the whole of it. Otherwise the garbage
// collector would count the garbage as memory in use, and would wait until the heap has doubled. gRPC keeps its buffers in
// pools, which only a second collection empties.
func (w *watch) collect() {
	if w.length.Load() >= collectFrom {
		runtime.GC()
		runtime.GC()
	}
}

type watchKey struct{}

// in returns the context for the watched call.
func (w *watch) in(ctx context.Context) context.Context { return context.WithValue(ctx, watchKey{}, w) }

// watcher updates the watches of the calls of a connection.
type watcher struct {
	dialed trace.SpanContext // in which the connection was made
}

// detailsKey names the trailer with the details of an error. gRPC leaves them out silently if it cannot decode them.
const detailsKey = "grpc-status-details-bin"

// HandleRPC records the request, the headers, with which a message begins, its length, and the trailers, with which every answer ends.
func (watcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	w, ok := ctx.Value(watchKey{}).(*watch)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.OutPayload:
		w.sent.Store(true)
	case *stats.InHeader:
		w.begun.Store(true)
	case *stats.InPayload:
		w.length.Store(int64(s.WireLength))
	case *stats.InTrailer:
		w.detailed.Store(len(s.Trailer.Get(detailsKey)) > 0)
		w.answered.Store(true)
	}
}

// TagConn implements [stats.Handler].
func (watcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (watcher) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC sends the plugin the span of the call, if there is one. A call without a span, such as the one that ends the plugin,
// belongs to the span in which the connection was made: otherwise it would be a trace of its own.
func (w watcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	headers := spanHeaders(ctx)
	if headers == nil && w.dialed.IsValid() {
		headers = spanHeaders(trace.ContextWithSpanContext(ctx, w.dialed))
	}
	for name, value := range headers {
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	return ctx
}
