// Package pace ends transfers that hardly progress: a peer that sends one byte a second would otherwise block its caller for ever.
//
// It sets no limit on the time of a whole transfer, so that a large one may take long.
//
// Invariant: a transfer that is not ended has moved at least as many bytes as its rate requires in every window of time.
package pace

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Rate is the minimal speed of a transfer: a number of bytes in each window of time.
type Rate struct {
	Window time.Duration
	Bytes  int64
}

// Slowest is the rate for responses of servers: less than the slowest modem.
var Slowest = Rate{Window: 30 * time.Second, Bytes: 4 << 10}

// SlowError reports that a transfer was ended because it was too slow.
type SlowError struct {
	Rate  Rate
	Moved int64 // in the last window
}

func (e *SlowError) Error() string {
	return fmt.Sprintf("only %d bytes were transferred in %s", e.Moved, e.Rate.Window)
}

// Guard watches one transfer. It is safe for concurrent use.
type Guard struct {
	rate Rate
	stop func(error)

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	moved int64 // in this window
	over  bool
	slow  *SlowError
}

// Watch begins to watch a transfer, and calls stop once, with a [*SlowError], if it is too slow. The caller must call End.
func Watch(rate Rate, stop func(error)) *Guard {
	g := &Guard{rate: rate, stop: stop}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(rate.Window, g.check)
	return g
}

// check checks the past window, and begins the next one.
func (g *Guard) check() {
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return
	}
	if g.moved >= g.rate.Bytes {
		g.moved = 0
		g.timer.Reset(g.rate.Window)
		g.mu.Unlock()
		return
	}
	g.over, g.slow = true, &SlowError{g.rate, g.moved}
	err := g.slow
	g.mu.Unlock()
	g.stop(err)
}

// Moved adds n to the transferred bytes.
func (g *Guard) Moved(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.moved += int64(n)
}

// End ends the watch, and returns the error that stopped the transfer, nil if it was not stopped.
func (g *Guard) End() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	g.timer.Stop()
	if g.slow == nil {
		return nil
	}
	return g.slow
}

// Body returns a body that is watched until it is closed. stop must make its reads end; they then return the [*SlowError].
func Body(body io.ReadCloser, rate Rate, stop func(error)) io.ReadCloser {
	return &watched{body, Watch(rate, stop)}
}

type watched struct {
	body  io.ReadCloser
	guard *Guard
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.guard.Moved(n)
	if err != nil {
		if slow := w.guard.End(); slow != nil {
			err = slow
		}
	}
	return n, err
}

// Close implements [io.Closer].
func (w *watched) Close() error {
	_ = w.guard.End() // a read has returned the error
	return w.body.Close()
}
