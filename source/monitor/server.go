package monitor

import (
	"context"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/property/packed"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
)

// Server is a ResourceMonitor server. Its methods are safe for many goroutines.
type Server struct {
	*loopback.Server
	callbacks *callbackClients
}

// NewServer returns a server of m that listens once its address is requested. The end of ctx stops it like Close, which must be called in
// any case: it refuses new requests, lets those in flight finish for a moment, cancels the rest, closes the connections to the program's
// callbacks, and returns when no handler runs any more.
//
// With views it also serves the ResourceStatus service, through which providers in other processes publish them ([protocol.md 5.4]).
//
// [protocol.md 5.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#54-resourcestatus
func NewServer(ctx context.Context, m source.ServedMonitor) *Server {
	h := newHandler(m)
	s := loopback.NewServer(ctx, func(r grpc.ServiceRegistrar) {
		pulumirpc.RegisterResourceMonitorServer(r, h)
		if h.views != nil {
			pulumirpc.RegisterResourceStatusServer(r, statusHandler{views: h.views})
		}
	}, func(message string) {
		m.Monitor.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: message + "\n"})
	}, grpc.ForceServerCodecV2(packed.NewCodec()))
	return &Server{Server: s, callbacks: h.callbacks}
}

// Close stops the server; see [NewServer]. It may be called more than once.
func (s *Server) Close() error {
	err := s.Server.Close()
	s.callbacks.close()
	return err
}

func newHandler(m source.ServedMonitor) *handler {
	h := &handler{monitor: withUnavailable(m.Monitor), views: m.Views, features: allFeatures(), callbacks: newCallbackClients()}
	if abs, err := filepath.Abs(m.Root); err == nil && m.Root != "" {
		h.positions.root = abs
	}
	if m.NoResourceReferences {
		delete(h.features, ResourceReferences)
	}
	if m.NoOutputValues {
		delete(h.features, OutputValues)
	}
	return h
}
