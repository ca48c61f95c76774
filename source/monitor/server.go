package monitor

import (
	"context"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/property/packed"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
)

// Server is a ResourceMonitor server. Its methods are safe for many goroutines.
type Server struct {
	*loopback.Server
	callbacks *callbackClients
}

// Option configures a server.
type Option func(*handler)

// ProjectRoot sets the directory of the project file. Source positions are recorded relative to it; without this option they are dropped
// (protocol.md 4.13).
func ProjectRoot(dir string) Option {
	return func(h *handler) {
		if abs, err := filepath.Abs(dir); err == nil && dir != "" {
			h.positions.root = abs
		}
	}
}

// Without disables features, so that SDKs use an older form of the protocol (protocol.md 4.2).
func Without(features ...Feature) Option {
	return func(h *handler) {
		for _, f := range features {
			delete(h.features, f)
		}
	}
}

// WithViews also serves the ResourceStatus service, through which providers in other processes publish views
// (protocol.md 5.4).
func WithViews(v stages.Views) Option { return func(h *handler) { h.views = v } }

// NewServer returns a server of m that listens once its address is requested. The end of ctx stops it like Close, which must be called in
// any case: it refuses new requests, lets those in flight finish for a moment, cancels the rest, closes the connections to the program's
// callbacks, and returns when no handler runs any more.
func NewServer(ctx context.Context, m stages.Monitor, options ...Option) *Server {
	h := newHandler(m, options...)
	s := loopback.NewServer(ctx, func(r grpc.ServiceRegistrar) {
		pulumirpc.RegisterResourceMonitorServer(r, h)
		if h.views != nil {
			pulumirpc.RegisterResourceStatusServer(r, statusHandler{views: h.views})
		}
	}, func(message string) {
		m.Log(ctx, stages.LogMessage{Severity: stages.Warning, Message: message + "\n"})
	}, grpc.ForceServerCodecV2(packed.NewCodec()))
	return &Server{Server: s, callbacks: h.callbacks}
}

// Close stops the server; see [NewServer]. It may be called more than once.
func (s *Server) Close() error {
	err := s.Server.Close()
	s.callbacks.close()
	return err
}

func newHandler(m stages.Monitor, options ...Option) *handler {
	h := &handler{monitor: withUnavailable(m), features: allFeatures(), callbacks: newCallbackClients()}
	for _, o := range options {
		o(h)
	}
	return h
}
