package monitor

import (
	"context"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Server is a running ResourceMonitor server. Its methods are safe for many goroutines.
type Server struct {
	*loopback.Server
	callbacks *callbackClients
}

// Option changes what a server does.
type Option func(*handler)

// ProjectRoot names the directory of the project file. Source positions are recorded relative to it; without this
// option they are dropped (protocol.md 4.13).
func ProjectRoot(dir string) Option {
	return func(h *handler) {
		if abs, err := filepath.Abs(dir); err == nil && dir != "" {
			h.root = abs
		}
	}
}

// Without answers "not supported" for features, so that SDKs use an older form of the protocol (protocol.md 4.2).
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

// Serve starts a server that speaks for m on the loopback interface. The end of ctx stops it like Close, which must be
// called in any case: it refuses new requests, lets those in flight finish for a moment, cancels the rest, closes the
// connections to the program's callbacks, and returns when no handler runs any more.
func Serve(ctx context.Context, m stages.Monitor, options ...Option) (*Server, error) {
	h := newHandler(m, options...)
	s, err := loopback.Serve(ctx, func(r grpc.ServiceRegistrar) {
		pulumirpc.RegisterResourceMonitorServer(r, h)
		if h.views != nil {
			pulumirpc.RegisterResourceStatusServer(r, statusHandler{views: h.views})
		}
	})
	if err != nil {
		return nil, err
	}
	return &Server{Server: s, callbacks: h.callbacks}, nil
}

// Close stops the server; see [Serve]. It may be called more than once.
func (s *Server) Close() error {
	err := s.Server.Close()
	s.callbacks.close()
	return err
}

// handler implements the service. It is immutable but for its callback connections and what it remembers of positions.
type handler struct {
	pulumirpc.UnsafeResourceMonitorServer
	monitor   stages.Monitor
	views     stages.Views // nil when nobody takes them in
	root      string       // absolute; "" when unknown
	features  map[Feature]bool
	callbacks *callbackClients
	positions positions
}

func newHandler(m stages.Monitor, options ...Option) *handler {
	h := &handler{monitor: m, features: allFeatures(), callbacks: newCallbackClients()}
	for _, o := range options {
		o(h)
	}
	return h
}

func (h *handler) RegisterResourceOutputs(ctx context.Context, req *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	u, err := parseURN("", req.GetUrn())
	if err != nil {
		return nil, statusOf(err)
	}
	outputs, err := decodeMap("outputs", req.GetOutputs())
	if err != nil {
		return nil, statusOf(err)
	}
	if err := h.monitor.RegisterOutputs(ctx, u, outputs); err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}

func (h *handler) RegisterPackage(ctx context.Context, req *pulumirpc.RegisterPackageRequest) (*pulumirpc.RegisterPackageResponse, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("package name is empty"))
	}
	for _, v := range []string{req.GetVersion(), req.GetParameterization().GetVersion(), req.GetExtension().GetVersion()} {
		if err := checkVersion(v); err != nil {
			return nil, statusOf(err)
		}
	}
	ref, err := h.monitor.RegisterPackage(ctx, stages.Package{
		Name:             req.GetName(),
		Version:          req.GetVersion(),
		DownloadURL:      req.GetDownloadUrl(),
		Checksums:        req.GetChecksums(),
		Parameterization: parameterization(req.GetParameterization()),
		Extension:        parameterization(req.GetExtension()),
	})
	if err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.RegisterPackageResponse{Ref: ref}, nil
}

func parameterization(p *pulumirpc.Parameterization) *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.GetName(), Version: p.GetVersion(), Value: p.GetValue()}
}

func (h *handler) RegisterStackTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.transform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterStackTransform(ctx, t))
}

func (h *handler) RegisterStackInvokeTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.invokeTransform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterInvokeTransform(ctx, t))
}

func (h *handler) RegisterResourceHook(ctx context.Context, req *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.hook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterHook(ctx, stages.Hook{
		Name: req.GetName(), OnDryRun: req.GetOnDryRun(), IgnoreErrors: req.GetIgnoreErrors(), Run: run,
	}))
}

func (h *handler) RegisterErrorHook(ctx context.Context, req *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.errorHook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterErrorHook(ctx, stages.ErrorHook{Name: req.GetName(), Run: run}))
}

func (h *handler) SignalAndWaitForShutdown(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	return empty(h.monitor.WaitForShutdown(ctx))
}

func empty(err error) (*emptypb.Empty, error) {
	if err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}

// parseURN refuses malformed URNs. what names the field in the message, with a trailing space: "parent ".
func parseURN(what, s string) (urn.URN, error) {
	u, err := urn.Parse(s)
	if err != nil {
		return "", invalid("invalid %sURN: %w", what, err)
	}
	return u, nil
}

// parseOptionalURN is parseURN for a field that may be empty.
func parseOptionalURN(what, s string) (urn.URN, error) {
	if s == "" {
		return "", nil
	}
	return parseURN(what, s)
}

func parseURNs(what string, list []string) ([]urn.URN, error) {
	if len(list) == 0 {
		return nil, nil
	}
	urns := make([]urn.URN, len(list))
	for i, s := range list {
		u, err := parseURN(what, s)
		if err != nil {
			return nil, err
		}
		urns[i] = u
	}
	return urns, nil
}
