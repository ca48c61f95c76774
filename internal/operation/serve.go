package operation

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
)

// serve returns the server of the run's monitor.
func (s *Settings) serve(ctx context.Context, m source.ServedMonitor) source.RunningService {
	if s.MonitorServer == nil {
		return unserved{}
	}
	return s.MonitorServer.ServeMonitor(ctx, m)
}

// unserved is the server of an operation that other processes cannot call.
type unserved struct{}

var errUnserved = fmt.Errorf("%w: set Options.Service to that of a host, or to another source.MonitorServer", providers.ErrUnserved)

func (unserved) Address() (string, error)       { return "", errUnserved }
func (unserved) SocketAddress() (string, error) { return "", errUnserved }
func (unserved) Close() error                   { return nil }
