package timing

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/urn"
)

// paths knows which chains of resources determined how long an operation took.
type paths struct {
	began time.Time // the operation
	over  map[trace.SpanID]*link
	last  *link         // what ended last
	least time.Duration // the longest that a chain takes if no task waits for a worker, from the begin of the operation
	// batch is what the steps come after that belong to no registration and wait for nothing else; nil until there are such steps.
	batch     *link
	firstStep time.Time
	work      time.Duration // the time of all steps together
}

// link is a resource of a chain.
type link struct {
	before     *link // what it came after, nil for the first one
	urn        urn.URN
	op         string
	start, end time.Time
	least      time.Duration // see paths
}

func newPaths(began time.Time) paths { return paths{began: began, over: map[trace.SpanID]*link{}} }

// starts takes note of a span that begins. All that belongs to no registration begins at once, unless it waits for each other: when
// everything before is over.
func (p *paths) starts(s *span) {
	switch s.kind {
	case kindResource:
		p.batch = nil
	case kindStep:
		if p.firstStep.IsZero() {
			p.firstStep = s.start
		}
		if s.resource == s && p.batch == nil {
			p.batch = &link{before: p.last, start: s.start, end: s.start, least: s.start.Sub(p.began)}
			if p.last != nil {
				p.batch.least = p.least + s.start.Sub(p.last.end)
			}
		}
	}
}

// ends takes note of a resource that is over.
func (p *paths) ends(s *span) {
	if s.kind == kindStep && !s.above.isStep() {
		p.work += s.duration()
	}
	if s.resource != s || s.unfinished {
		return
	}
	own := &link{urn: s.urn, op: s.op, start: s.start, end: s.end}
	least, latest := time.Duration(0), time.Time{}
	for _, l := range s.links() {
		before := p.over[l.SpanContext.SpanID()]
		if before == nil {
			continue
		}
		if own.before == nil || before.end.After(own.before.end) {
			own.before = before
		}
		least = max(least, before.least)
	}
	if own.before != nil {
		latest = own.before.end
	}
	switch {
	case s.kind == kindStep && own.before == nil:
		own.before, least = p.batch.before, p.batch.least
	case s.kind == kindStep: // it begins at once if a worker is free
	case own.before == nil:
		least = s.start.Sub(p.began)
	default:
		least += max(0, s.start.Sub(latest)) // the program took its time
	}
	own.least = least + s.needs()
	p.least = max(p.least, own.least)
	p.over[s.id] = own
	if p.last == nil || !own.end.Before(p.last.end) {
		p.last = own
	}
}

// needs returns how long a resource takes if it waits for no worker.
func (s *span) needs() time.Duration {
	if s.kind == kindStep || s.took.queued.IsZero() {
		return s.duration()
	}
	return s.took.queued.Sub(s.start) + s.took.steps
}

// critical returns the chain of resources whose ends determined when the operation could end, the first one first.
func (p *paths) critical() []*link {
	var chain []*link
	for l := p.last; l != nil; l = l.before {
		chain = append(chain, l)
	}
	for i, j := 0, len(chain)-1; i < j; i, j = i+1, j-1 {
		chain[i], chain[j] = chain[j], chain[i]
	}
	return chain
}

// atLeast returns how long an operation that ended then would have taken at least with this many workers; 0 is any number.
func (p *paths) atLeast(workers int, ended time.Time) time.Duration {
	took := ended.Sub(p.began)
	if p.last == nil {
		return took
	}
	tail := ended.Sub(p.last.end)
	least := p.least + tail
	if workers > 0 && !p.firstStep.IsZero() {
		least = max(least, p.firstStep.Sub(p.began)+p.work/time.Duration(workers)+tail)
	}
	return min(least, took)
}
