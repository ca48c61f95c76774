package operation

import (
	"fmt"

	"github.com/sluice-iac/sluice/providers"
)

// unserved is the [source.RunningService] of an operation that other processes cannot call.
type unserved struct{}

var errUnserved = fmt.Errorf("%w: set Options.Service to that of a host, or to another source.MonitorServer", providers.ErrUnserved)

func (unserved) Address() (string, error)       { return "", errUnserved }
func (unserved) SocketAddress() (string, error) { return "", errUnserved }
func (unserved) Close() error                   { return nil }
