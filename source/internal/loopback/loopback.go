// Package loopback starts the engine's gRPC servers and dials the programs that serve callbacks.
//
// It knows neither which services a server offers nor what they mean.
//
// Invariant: a server listens on the loopback interface only, and when Close has returned none of its handlers runs.
package loopback

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// MaxMessage is the largest message in bytes that servers and clients send and accept (protocol.md 1.1).
const MaxMessage = 400 << 20

// grace is how long Close lets requests in flight finish. After a run every request is answered at once; only a caller
// that does not read its answers needs longer.
const grace = 2 * time.Second

// Buffers and windows are larger than gRPC's defaults: a program that declares thousands of resources at once sends a
// burst of small messages over one connection, and fewer system calls and window updates make that cheaper.
const (
	bufferSize = 128 << 10
	windowSize = 4 << 20
)

// Server is a running gRPC server with a health service that says SERVING. Its methods are safe for many goroutines.
type Server struct {
	address string
	health  *health.Server
	grpc    *grpc.Server
	serving conc.WaitGroup
	unbind  func() bool
	once    sync.Once
}

// Serve listens on a port that the system chooses, offers the services that register adds, and returns at once. The
// end of ctx stops the server like [Server.Close], which must be called in any case.
func Serve(ctx context.Context, register func(grpc.ServiceRegistrar)) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on the loopback interface: %w", err)
	}
	s := &Server{
		address: listener.Addr().String(),
		health:  health.NewServer(),
		grpc: grpc.NewServer(
			grpc.MaxRecvMsgSize(MaxMessage),
			grpc.MaxSendMsgSize(MaxMessage),
			// A registration is parked for as long as its step takes: nothing may limit how many there are.
			grpc.MaxConcurrentStreams(math.MaxUint32),
			grpc.NumStreamWorkers(0),
			grpc.WaitForHandlers(true),
			grpc.ReadBufferSize(bufferSize),
			grpc.WriteBufferSize(bufferSize),
			grpc.InitialWindowSize(windowSize),
			grpc.InitialConnWindowSize(windowSize),
		),
	}
	healthpb.RegisterHealthServer(s.grpc, s.health)
	register(s.grpc)
	// Serve's error is always that the listener was closed: by Close, or by the system, after which clients see a
	// refused connection, which says more than this error.
	s.serving.Go(func() { _ = s.grpc.Serve(listener) })
	s.unbind = context.AfterFunc(ctx, s.stop)
	return s, nil
}

// Address is "127.0.0.1:<port>".
func (s *Server) Address() string { return s.address }

// Close refuses new requests, gives those in flight a moment to finish, cancels the rest, and returns when every
// handler has returned. It may be called more than once.
func (s *Server) Close() error {
	s.unbind()
	s.stop()
	s.serving.Wait()
	return nil
}

func (s *Server) stop() {
	s.once.Do(func() {
		s.health.Shutdown()
		cut := time.AfterFunc(grace, s.grpc.Stop)
		s.grpc.GracefulStop()
		cut.Stop()
	})
}

// Dial returns a client of a server on this machine. It does not wait for the connection.
func Dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithInitialWindowSize(windowSize), grpc.WithInitialConnWindowSize(windowSize))
}
