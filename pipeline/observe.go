package pipeline

import (
	"sync"
	"sync/atomic"
)

// counters are kept by every step; they cost a few atomic additions per item.
type counters struct {
	offered  atomic.Int64 // handed to the step, or waiting to be
	begun    atomic.Int64
	finished atomic.Int64
	failed   atomic.Int64
	dropped  atomic.Int64
	asks     atomic.Int64
}

// StageStats are the figures of one step at one moment, in items. They are read one after the other while the run goes
// on, so they are close to each other and not exact; after the run they are exact.
type StageStats struct {
	// Stage is the step's name. The first is the source's, the last is [SinkName].
	Stage string
	// Waiting have been emitted by the step before but not been taken up, including those whose Emit blocks.
	Waiting int
	// Running are being worked on. For the source it is 1 while it generates.
	Running int
	// Done were worked on without an error.
	Done int
	// Failed were worked on and ended in an error.
	Failed int
	// Dropped were never worked on, because the run was over.
	Dropped int
	// Asks are an actor's questions that have not been answered to it yet.
	Asks int
}

// Observer gives a view of a run to a progress display. The zero value is ready. It is safe for concurrent use; use one
// for each run.
type Observer struct {
	mu    sync.Mutex
	nodes []*node
}

// Observe makes o show the run.
func Observe(o *Observer) Option { return func(opts *options) { opts.observer = o } }

func (o *Observer) watch(nodes []*node) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nodes = nodes
}

// Stats returns the figures of every step in the order of the flow, or nothing before the run has begun. It may be called
// at any time, also after the run.
func (o *Observer) Stats() []StageStats {
	o.mu.Lock()
	nodes := o.nodes
	o.mu.Unlock()
	stats := make([]StageStats, len(nodes))
	for i, n := range nodes {
		stats[i] = n.snapshot(n.name)
	}
	return stats
}

// snapshot reads the later counters first, so that no difference is negative.
func (c *counters) snapshot(name string) StageStats {
	finished, failed, dropped := c.finished.Load(), c.failed.Load(), c.dropped.Load()
	begun := c.begun.Load()
	offered := c.offered.Load()
	return StageStats{
		Stage:   name,
		Waiting: int(offered - begun - dropped),
		Running: int(begun - finished - failed),
		Done:    int(finished),
		Failed:  int(failed),
		Dropped: int(dropped),
		Asks:    int(c.asks.Load()),
	}
}
