package traces

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/source/spans"
)

// relay receives the spans of programs and plugins, whose SDKs support one protocol only, and sends them to the destination of the command's spans.
type relay struct {
	collectorpb.UnimplementedTraceServiceServer
	client  otlptrace.Client
	failed  func(error)
	address string // "" if nothing listens
	server  *spans.Server
}

// startRelay listens on the loopback interface, for the user of this process. client is started and stopped by its exporter. failed is called with
// errors.
func startRelay(client otlptrace.Client, failed func(error)) *relay {
	r := &relay{client: client, failed: failed}
	r.server = spans.NewServer(func(to grpc.ServiceRegistrar) { collectorpb.RegisterTraceServiceServer(to, r) })
	var err error
	if r.address, err = r.server.Address(); err != nil {
		failed(err)
	}
	return r
}

// Export implements the service of collectors. It returns no errors to the senders, because they would print them.
func (r *relay) Export(ctx context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	if err := r.client.UploadTraces(ctx, req.GetResourceSpans()); err != nil {
		r.failed(err)
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// stop ends the relay, after the programs and plugins. The receiver may be nil.
func (r *relay) stop() {
	if r != nil {
		_ = r.server.Close() // its error changes nothing
	}
}
