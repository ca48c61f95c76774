package timing

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/urn"
)

// paths finds the chains of resources that determined how long an operation took.
type paths struct {
	began time.Time // the operation
	over  map[trace.SpanID]*link
	last  *link         // the link that ended last
	least time.Duration // the longest duration of a chain without waits for workers, from the beginning of the operation
	// batch precedes the steps that belong to no registration and have no other predecessor; nil until there are such steps.
	batch     *link
	firstStep time.Time
	work      time.Duration // the total duration of all steps
}

// link is a resource of a chain.
type link struct {
	before     *link // its predecessor, nil for the first one
	urn        urn.URN
	op         string
	start, end time.Time
	least      time.Duration // see paths
}

func newPaths(began time.Time) paths { return paths{began: began, over: map[trace.SpanID]*link{}} }

// starts records the beginning of a span. Steps without a registration that do not wait for one another begin together, when
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

// ends records the end of a resource.
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
		least += max(0, s.start.Sub(latest)) // the time of the program
	}
	own.least = least + s.needs()
	p.least = max(p.least, own.least)
	p.over[s.id] = own
	if p.last == nil || !own.end.Before(p.last.end) {
		p.last = own
	}
}

// critical returns the chain of resources whose ends determined the end of the operation, the first one first.
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

// atLeast returns a lower bound on the duration of an operation that ended then, with this many workers; 0 means any number.
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
