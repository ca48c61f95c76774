// Package spans serves collectors of spans, on the loopback interface and to the user of this process alone.
//
// It does not interpret spans.
//
// Invariant: nothing listens before the address is requested.
package spans

import (
	"context"

	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/source/internal/loopback"
)

// Server serves a collector of spans.
type Server struct{ *loopback.Server }

// NewServer returns a server of the services that register adds. Close must be called. Calls to it are not traced.
func NewServer(register func(grpc.ServiceRegistrar)) *Server {
	return &Server{loopback.NewServer(context.Background(), register, func(string) {})}
}
