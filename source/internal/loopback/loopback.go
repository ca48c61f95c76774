// Package loopback starts the engine's gRPC servers and dials the programs that serve callbacks.
//
// It depends on no service that a server offers.
//
// Invariant: a server listens only once its address has been requested, on the loopback interface or at a socket in the file system; users
// other than that of this process and root are refused, as far as the system identifies them (package peer); and no handler runs after
// Close has returned.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/sluice-iac/sluice/internal/platform/peer"
)

// MaxMessage is the largest message in bytes that servers and clients send and accept (protocol.md 1.1).
const MaxMessage = 400 << 20

// grace is the time that requests in flight have when Close is called. After a run every request is answered at once; only a caller that
// does not read its answers needs longer.
const grace = 2 * time.Second

// Buffers and windows are larger than gRPC's defaults: a program that declares thousands of resources at once sends a
// burst of small messages over one connection, and fewer system calls and window updates make that cheaper.
const (
	bufferSize = 128 << 10
	windowSize = 4 << 20
)

// Server is a gRPC server with a health service whose status is SERVING. It listens only once its address has been requested. Its methods
// are safe for many goroutines.
type Server struct {
	health  *health.Server
	grpc    *grpc.Server
	serving conc.WaitGroup
	unbind  func() bool
	once    sync.Once
	report  *report

	mu      sync.Mutex // guards the fields below
	closed  bool
	address string // "127.0.0.1:<port>"; "" before its first use
	socket  string // "unix://<path>", or the address above if there can be no socket; "" before its first use
	folder  string // of the socket; "" without one
}

// NewServer returns a server of the services that register adds. warn is called when a caller is refused, and when the system does not
// identify the caller: once for each of the two, from any goroutine. The end of ctx stops the server like [Server.Close], which must be called in any
// case.
func NewServer(ctx context.Context, register func(grpc.ServiceRegistrar), warn func(message string), options ...grpc.ServerOption) *Server {
	s := &Server{health: health.NewServer(), report: &report{warn: warn}}
	s.grpc = grpc.NewServer(append(append(spans(ctx), options...),
		grpc.Creds(peer.Credentials(s.report.add)),
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxMessage),
		// A registration waits as long as its step takes, so there is no limit on concurrent streams.
		grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.NumStreamWorkers(0),
		grpc.WaitForHandlers(true),
		grpc.ReadBufferSize(bufferSize),
		grpc.WriteBufferSize(bufferSize),
		grpc.InitialWindowSize(windowSize),
		grpc.InitialConnWindowSize(windowSize),
	)...)
	healthpb.RegisterHealthServer(s.grpc, s.health)
	register(s.grpc)
	s.unbind = context.AfterFunc(ctx, s.stop)
	return s
}

// Address returns "127.0.0.1:<port>" with a port that the system has chosen. The first call starts listening.
func (s *Server) Address() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listenTCP()
}

// SocketAddress returns the address for programs that can dial Unix sockets, "unix://<path>". Only the user of this process, and root, can
// open the socket. If there can be no socket that every program can dial, it is [Server.Address].
func (s *Server) SocketAddress() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.socket != "":
		return s.socket, nil
	case s.closed:
		return "", errClosed
	}
	var err error
	if l, folder := listenUnix(); l != nil {
		s.folder, s.socket = folder, "unix://"+l.Addr().String()
		s.serve(l)
	} else {
		s.socket, err = s.listenTCP()
	}
	return s.socket, err
}

// errClosed is the error of a request for an address after Close.
var errClosed = errors.New("the server of the engine is closed")

// listenTCP needs the lock.
func (s *Server) listenTCP() (string, error) {
	switch {
	case s.address != "":
		return s.address, nil
	case s.closed:
		return "", errClosed
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on the loopback interface: %w", err)
	}
	s.address = l.Addr().String()
	s.serve(l)
	return s.address, nil
}

// serve needs the lock. The error of Serve is always that the listener was closed: by Close, or by the system. Clients then get a refused
// connection, which is clearer than this error.
func (s *Server) serve(l net.Listener) { s.serving.Go(func() { _ = s.grpc.Serve(l) }) }

// Close refuses new requests, gives those in flight a moment to finish, cancels the rest, and returns when every handler has returned. It
// may be called more than once.
func (s *Server) Close() error {
	s.unbind()
	s.stop()
	s.serving.Wait()
	return nil
}

func (s *Server) stop() {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		folder := s.folder
		s.mu.Unlock()
		s.health.Shutdown()
		cut := time.AfterFunc(grace, s.grpc.Stop)
		s.grpc.GracefulStop()
		cut.Stop()
		if folder != "" {
			_ = os.RemoveAll(folder) // the rest of it is empty
		}
	})
}

// Dial returns a client of a server on this machine. It does not wait for the connection, and refuses one to another user's process.
func Dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(peer.Credentials(nil)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithInitialWindowSize(windowSize), grpc.WithInitialConnWindowSize(windowSize))
}

// report warns of refused callers, and of callers that could not be identified, once for each kind.
type report struct {
	warn            func(message string)
	refused, untold sync.Once
}

func (r *report) add(err error) {
	if errors.As(err, new(*peer.UntoldError)) {
		r.untold.Do(func() {
			r.warn(fmt.Sprintf("other users of this machine can call the engine while it runs, because they cannot be recognized: %v", err))
		})
		return
	}
	r.refused.Do(func() {
		r.warn(fmt.Sprintf("somebody else has tried to call the engine and was refused: %v. Only processes of the user who runs "+
			"sluice, and of root, may call it. Further attempts are refused without a message", err))
	})
}
