package rooms

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// milestone is a point that registrations pass.
type milestone uint8

const (
	Reread  milestone = 1 << iota // its recorded state has been read again, or need not be
	Decided                       // its steps are decided
	Over                          // its steps are over, whether or not they were executed
)

// Progress lets a stage before build wait until an earlier registration has passed a milestone. It is the only way to
// wait for another registration there; execute orders steps by their edges. Waiting is rare, so a registration costs
// one byte and no event. Any stage may read it; each milestone has a [ProgressWriter]. It is safe for concurrent use.
type Progress struct {
	mu      sync.RWMutex
	passed  []milestone // by number of the registration
	settled int         // all registrations up to this number are decided; numbers begin with 1
	awaited map[awaitedMilestone]*await.Event
}

type awaitedMilestone struct {
	seq       int
	milestone milestone
}

func newProgress() *Progress { return &Progress{awaited: map[awaitedMilestone]*await.Event{}} }

// ProgressWriter records the registrations that pass one milestone.
type ProgressWriter struct {
	progress  *Progress
	milestone milestone
}

// Pass records that a registration has passed the milestone. Calls after the first do nothing.
func (w *ProgressWriter) Pass(seq int) {
	p, m := w.progress, w.milestone
	p.mu.Lock()
	defer p.mu.Unlock()
	if missing := seq + 1 - len(p.passed); missing > 0 {
		p.passed = append(p.passed, make([]milestone, missing)...)
	}
	p.passed[seq] |= m
	for p.isPast(p.settled+1, Decided) {
		p.settled++
	}
	key := awaitedMilestone{seq, m}
	if e, ok := p.awaited[key]; ok {
		delete(p.awaited, key)
		e.Fire()
	}
}

// HasPassed reports whether a registration has passed a milestone.
func (p *Progress) HasPassed(seq int, m milestone) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.isPast(seq, m)
}

// AreDecided reports whether all registrations before a number are decided.
func (p *Progress) AreDecided(before int) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.settled+1 >= before
}

func (p *Progress) isPast(seq int, m milestone) bool {
	return seq < len(p.passed) && p.passed[seq]&m != 0
}

// Await waits until a registration has passed a milestone, or ctx ends. Items before it find a worker meanwhile ([pipeline.WaitForOthers]).
func (p *Progress) Await(ctx context.Context, seq int, m milestone) error {
	if p.HasPassed(seq, m) {
		return nil
	}
	p.mu.Lock()
	if p.isPast(seq, m) {
		p.mu.Unlock()
		return nil
	}
	key := awaitedMilestone{seq, m}
	e, ok := p.awaited[key]
	if !ok {
		e = await.NewEvent()
		p.awaited[key] = e
	}
	p.mu.Unlock()
	return pipeline.WaitForOthers(ctx, func() error { return e.Wait(ctx) })
}
