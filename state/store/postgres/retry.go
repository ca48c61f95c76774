package postgres

import (
	"sync"
	"time"
)

// patience is how long a server may be away, for a restart or while another replaces it: as long as a lock's lease lasts
// without renewal.
const patience = time.Minute

// connecting is the time limit of one attempt to connect, unless the URL or PGCONNECT_TIMEOUT has another.
const connecting = 10 * time.Second

// outage is the time since which a server has been away. All calls of a store share it, so that they wait for the server at the
// same time and not one after the other. The zero outage has not begun.
type outage struct {
	mu    sync.Mutex // guards since
	since time.Time  // zero while the server is there
}

// lasts begins the outage, unless it has begun, and returns how long it has lasted.
func (o *outage) lasts() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = time.Now()
	}
	return time.Since(o.since)
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = time.Time{}
}

// isBusy reports whether a server answers but does not serve now: it starts or stops, or has too many connections.
func isBusy(err error) bool { return hasCode(err, "57P03") || hasCode(err, "53300") }
