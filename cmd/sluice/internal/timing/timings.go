package timing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/urn"
)

// Timings add up where the time of each operation of a command went.
type Timings struct {
	operations []*operation
}

// operation has the data of one operation.
type operation struct {
	*span
	stages    map[string]*durations
	calls     map[method]*durations
	failed    map[method]int
	limits    map[string]*union
	resources longest[slowResource]
	slowCalls longest[slowCall]
	paths     paths
}

// method is a method of a provider.
type method struct{ pkg, name string }

type slowResource struct {
	urn   urn.URN
	op    string
	parts parts
}

type slowCall struct {
	method
	urn urn.URN
	typ urn.Type
}

// NewTimings returns empty timings.
func NewTimings() *Timings { return &Timings{} }

// slowest is the length of the lists of slowest entries.
const slowest = 10

func newOperation(s *span) *operation {
	return &operation{
		span: s, stages: map[string]*durations{}, calls: map[method]*durations{}, failed: map[method]int{}, limits: map[string]*union{},
		resources: longest[slowResource]{most: slowest}, slowCalls: longest[slowCall]{most: slowest}, paths: newPaths(s.start),
	}
}

func (t *Timings) began(s *span) {
	if s.kind == kindOperation {
		t.operations = append(t.operations, newOperation(s))
	}
	if o := t.current(); o != nil {
		o.paths.starts(s)
	}
}

// current returns the operation that began last: a command has one at a time.
func (t *Timings) current() *operation {
	if len(t.operations) == 0 {
		return nil
	}
	return t.operations[len(t.operations)-1]
}

func (t *Timings) ended(s *span) {
	o := t.current()
	if o == nil {
		return
	}
	o.paths.ends(s)
	took := s.duration()
	switch s.kind {
	case kindStage:
		sum(o.stages, s.name).add(took)
	case kindCall:
		key := method{s.pkg, s.method}
		sum(o.calls, key).add(took)
		if s.failed {
			o.failed[key]++
		}
		o.slowCalls.add(took, func() slowCall { return slowCall{key, s.urn, s.typ} })
	case kindWait:
		if o.limits[s.limit] == nil {
			o.limits[s.limit] = &union{}
		}
		o.limits[s.limit].add(s.start, s.end)
	}
	if s.resource == s && !s.unfinished {
		o.resources.add(took, func() slowResource { return slowResource{s.urn, s.op, s.took} })
	}
}

// sum returns the durations of a key, and adds them if they are missing.
func sum[K comparable](in map[K]*durations, key K) *durations {
	if in[key] == nil {
		in[key] = &durations{}
	}
	return in[key]
}

// methods returns the methods that were called, those with the longest total first.
func (o *operation) methods() []method {
	return slices.SortedFunc(maps.Keys(o.calls), func(a, b method) int {
		return cmp.Or(cmp.Compare(o.calls[b].total, o.calls[a].total), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	})
}

// waits returns the names of the limits with waits, those with the longest total first.
func (o *operation) waits() []string {
	return slices.SortedFunc(maps.Keys(o.limits), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.limits[b].total(), o.limits[a].total()), cmp.Compare(a, b))
	})
}

// saturated returns how long tasks have waited for a worker.
func (o *operation) saturated() time.Duration {
	if u := o.limits[limitOfWorkers]; u != nil {
		return u.total()
	}
	return 0
}
