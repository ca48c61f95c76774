package traces

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/source/spans"
)

// relay takes the spans of programs and plugins, whose SDKs can send them in one way only, and sends them to where those of the command go.
type relay struct {
	collectorpb.UnimplementedTraceServiceServer
	client  otlptrace.Client
	failed  func(error)
	address string // "" if nothing listens
	server  *spans.Server
}

// startRelay listens on the loopback interface, for the user of this process. client is started and stopped by its exporter. What goes wrong is told to failed.
func startRelay(client otlptrace.Client, failed func(error)) *relay {
	r := &relay{client: client, failed: failed}
	r.server = spans.NewServer(func(to grpc.ServiceRegistrar) { collectorpb.RegisterTraceServiceServer(to, r) })
	var err error
	if r.address, err = r.server.Address(); err != nil {
		failed(err)
	}
	return r
}

// Export implements the service of collectors. Those who send are not told what went wrong: they would print it.
func (r *relay) Export(ctx context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	if err := r.client.UploadTraces(ctx, req.GetResourceSpans()); err != nil {
		r.failed(err)
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// stop ends the relay; programs and plugins have ended before. It may be called of none.
func (r *relay) stop() {
	if r != nil {
		_ = r.server.Close() // its error changes nothing
	}
}
