package providers

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/urn"
)

// LimitWait describes how long calls of an operation have waited for a limit.
type LimitWait struct {
	Limit string // its name
	Calls int    // that have waited
	// Time is how long at least one call was waiting.
	Time time.Duration
}

// longWait is how long calls wait for a limit before it is reported.
const longWait = time.Second

// limitWaits are the waits of one operation for limits. They are safe for concurrent use.
type limitWaits struct {
	// canceled ends when calls must not wait any more. The cause of cancel is the error of the waiting calls.
	canceled context.Context
	cancel   context.CancelCauseFunc

	mu     sync.Mutex
	of     map[string]*limitWait
	report func(limit string, waiting bool) // reports waits; may be nil
}

type limitWait struct {
	LimitWait
	waiting  int // calls at present
	since    time.Time
	reported bool
	timer    *time.Timer
}

// during waits for a limit, until ctx ends or all waits are canceled.
func (w *limitWaits) during(ctx context.Context, limit string, wait func(context.Context) error) error {
	defer w.begin(limit)()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(w.canceled, func() { cancel(context.Cause(w.canceled)) })
	defer stop()
	return wait(ctx)
}

// LimitedCall is a call of a provider that has to wait for a limit.
type LimitedCall struct {
	Limit   string // its name
	Package string
	Method  Method
	URN     urn.URN  // of the resource; "" for a function
	Type    urn.Type // of the resource, or the token of the function
}

// callWaits are the waits of one call.
type callWaits struct {
	of     *limitWaits
	report func(context.Context, LimitedCall) (over func()) // reports waits; may be nil
	urn    urn.URN
}

func (w callWaits) during(ctx context.Context, call limitedCall, limit string, wait func(context.Context) error) error {
	if w.report != nil {
		defer w.report(ctx, LimitedCall{Limit: limit, Package: call.pkg, Method: call.method, URN: w.urn, Type: call.typ})()
	}
	return w.of.during(ctx, limit, wait)
}

// begin counts a call that waits, until end.
func (w *limitWaits) begin(limit string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.of[limit]
	if of == nil {
		of = &limitWait{LimitWait: LimitWait{Limit: limit}}
		w.of[limit] = of
	}
	of.Calls++
	if of.waiting++; of.waiting == 1 {
		of.since = time.Now()
		of.timer = time.AfterFunc(longWait, func() { w.reportLong(of) })
	}
	return func() { w.end(of) }
}

func (w *limitWaits) end(of *limitWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of.waiting--; of.waiting > 0 {
		return
	}
	of.Time += time.Since(of.since)
	of.timer.Stop()
	if of.reported && w.report != nil {
		w.report(of.Limit, false)
	}
	of.reported = false
}

func (w *limitWaits) reportLong(of *limitWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of.waiting == 0 || of.reported || time.Since(of.since) < longWait || w.report == nil {
		return
	}
	of.reported = true
	w.report(of.Limit, true)
}

// quiet ensures that no more waits are reported.
func (w *limitWaits) quiet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = nil
}

// long returns the waits that took long, the longest first.
func (w *limitWaits) long() []LimitWait {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []LimitWait
	for _, of := range w.of {
		total := of.LimitWait
		if of.waiting > 0 {
			total.Time += time.Since(of.since)
		}
		if total.Time >= longWait {
			out = append(out, total)
		}
	}
	slices.SortFunc(out, func(a, b LimitWait) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Limit, b.Limit))
	})
	return out
}
