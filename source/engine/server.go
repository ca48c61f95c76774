package engine

import (
	"context"
	"regexp"
	"sync"
	"sync/atomic"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// CompatibilityVersion is the version of the Pulumi command line whose behaviour this engine has. Programs get it as the engine's version
// ([protocol.md 5.2]).
//
// [protocol.md 5.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#52-version
const CompatibilityVersion = "3.274.1"

// Server is an Engine server. Its methods are safe for many goroutines.
type Server struct {
	*loopback.Server
	handler *handler
}

// Option configures a server.
type Option func(*handler)

// With adds the services that register registers, at the same address.
func With(register func(grpc.ServiceRegistrar)) Option {
	return func(h *handler) { h.others = append(h.others, register) }
}

// NewServer returns a server that passes messages to sink, which may be nil and may be called from many goroutines. It listens once its
// address is requested. The end of ctx stops it like Close, which must be called in any case.
func NewServer(ctx context.Context, sink func(stages.LogMessage), options ...Option) *Server {
	h := &handler{}
	for _, o := range options {
		o(h)
	}
	h.attach(sink)
	return &Server{Server: loopback.NewServer(ctx, h.register, h.warn), handler: h}
}

// Attach makes sink receive all further messages, until the next call; nil drops them. One server outlives the operations of a command: each of them has
// a sink and a root resource of its own, so Attach forgets the root resource.
func (s *Server) Attach(sink func(stages.LogMessage)) { s.handler.attach(sink) }

// Log passes a message to what is attached.
func (s *Server) Log(m stages.LogMessage) { s.handler.log(m) }

type handler struct {
	pulumirpc.UnsafeEngineServer
	others   []func(grpc.ServiceRegistrar)
	attached atomic.Pointer[attachment]
}

// attachment is what the server has for one operation.
type attachment struct {
	sink func(stages.LogMessage)
	root atomic.Pointer[string] // the URN of the root resource; nil if the program has not set it
}

func (h *handler) register(r grpc.ServiceRegistrar) {
	pulumirpc.RegisterEngineServer(r, h)
	for _, other := range h.others {
		other(r)
	}
}

func (h *handler) attach(sink func(stages.LogMessage)) {
	if sink == nil {
		sink = func(stages.LogMessage) {}
	}
	h.attached.Store(&attachment{sink: sink})
}

func (h *handler) log(m stages.LogMessage) { h.attached.Load().sink(m) }

func (h *handler) warn(message string) {
	h.log(stages.LogMessage{Severity: stages.Warning, Message: message + "\n"})
}

func (h *handler) Log(_ context.Context, req *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	// A message with a malformed URN is still shown, for the stack.
	u, err := urn.Parse(req.GetUrn())
	if err != nil {
		u = ""
	}
	h.log(stages.LogMessage{
		Severity: severity(req.GetSeverity()), Message: withoutCommandLine(terminal.Plain(req.GetMessage())), URN: u,
		StreamID: req.GetStreamId(), Ephemeral: req.GetEphemeral(),
	})
	return &emptypb.Empty{}, nil
}

// ofJava matches the beginning of the error of a program in the SDK for Java, which contains the whole command line of the JVM.
var ofJava = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Running program \[PID: \d+\])\(.*\)( failed with an unhandled exception:)`)
})

// withoutCommandLine removes the command line of a JVM from a message.
func withoutCommandLine(message string) string { return ofJava().ReplaceAllString(message, "$1$2") }

// severity treats an unknown number as an error, so that nothing serious is lost.
func severity(s pulumirpc.LogSeverity) stages.Severity {
	switch s {
	case pulumirpc.LogSeverity_DEBUG:
		return stages.Debug
	case pulumirpc.LogSeverity_INFO:
		return stages.Info
	case pulumirpc.LogSeverity_WARNING:
		return stages.Warning
	}
	return stages.Error
}

func (h *handler) GetRootResource(context.Context, *pulumirpc.GetRootResourceRequest) (*pulumirpc.GetRootResourceResponse, error) {
	out := &pulumirpc.GetRootResourceResponse{}
	if u := h.attached.Load().root.Load(); u != nil {
		out.Urn = *u
	}
	return out, nil
}

func (h *handler) SetRootResource(_ context.Context, req *pulumirpc.SetRootResourceRequest) (*pulumirpc.SetRootResourceResponse, error) {
	u := req.GetUrn()
	h.attached.Load().root.Store(&u)
	return &pulumirpc.SetRootResourceResponse{}, nil
}

func (h *handler) StartDebugging(_ context.Context, req *pulumirpc.StartDebuggingRequest) (*emptypb.Empty, error) {
	h.log(tooling.Waiting(terminal.Plain(req.GetMessage()), req.GetConfig().AsMap()))
	return &emptypb.Empty{}, nil
}

func (h *handler) RequirePulumiVersion(_ context.Context, req *pulumirpc.RequirePulumiVersionRequest) (*pulumirpc.RequirePulumiVersionResponse, error) {
	ok, err := satisfies(CompatibilityVersion, req.GetPulumiVersionRange())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if !ok {
		return nil, status.Errorf(codes.FailedPrecondition,
			"Pulumi CLI version %s does not satisfy the version range %q", CompatibilityVersion, req.GetPulumiVersionRange())
	}
	return &pulumirpc.RequirePulumiVersionResponse{}, nil
}
