package operation

import (
	"sync"

	"github.com/sluice-iac/sluice/source/monitor"
)

// lazyServer is the gRPC server of a run's monitor. The first user starts it. A program that is a Go function with
// providers that are Go values never does.
type lazyServer struct {
	mu     sync.Mutex
	server *monitor.Server
	start  func() (*monitor.Server, error)
}

func (l *lazyServer) address() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		var err error
		if l.server, err = l.start(); err != nil {
			return "", err
		}
	}
	return l.server.Address(), nil
}

func (l *lazyServer) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}
