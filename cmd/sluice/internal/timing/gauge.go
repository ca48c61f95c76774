package timing

import (
	"maps"
	"slices"
	"time"
)

// gauge is a counter over time. Its value is plotted at most once a millisecond, and always before a pause.
type gauge struct {
	name    string
	process int
	values  map[string]int
	at      time.Time // when the values last changed
	plotted time.Time
	pending bool
}

const plotEvery = time.Millisecond

// add changes values.
func (f *File) add(g *gauge, at time.Time, changes map[string]int) {
	if g.values == nil {
		g.values, g.process = map[string]int{}, f.process(engineProcess).id
	}
	if g.pending && at.After(g.at) && at.Sub(g.plotted) >= plotEvery {
		f.plot(g)
	}
	for name, by := range changes {
		g.values[name] += by
	}
	if at.After(g.at) {
		g.at = at
	}
	g.pending = true
}

// plot writes the values of a gauge since its last change.
func (f *File) plot(g *gauge) {
	if !g.pending {
		return
	}
	g.pending, g.plotted = false, g.at
	f.emit(event{Name: g.name, Phase: "C", At: micros(f.at(g.at)), Process: g.process, Args: g.values})
}

// gauges returns all gauges in a fixed order.
func (f *File) gauges() []*gauge {
	all := []*gauge{&f.resources, &f.calls}
	for _, limit := range slices.Sorted(maps.Keys(f.limits)) {
		all = append(all, f.limits[limit])
	}
	return all
}

// plotChange counts a span that begins (1) or ends (-1).
//
// A resource counts as running during its steps and provider calls, and as waiting otherwise.
func (f *File) plotChange(s *span, by int, at time.Time) {
	switch s.kind {
	case kindResource:
		f.add(&f.resources, at, map[string]int{"waiting": by})
	case kindStep:
		if !s.above.isStep() {
			f.runs(s, by, at)
		}
	case kindCall:
		f.add(&f.calls, at, map[string]int{"running": by})
		if s.resource != nil && !s.isIn(kindStep) {
			f.runs(s, by, at)
		}
	case kindWait:
		if s.limit == limitOfWorkers {
			return // the number of waiting ones is unknown
		}
		g := f.limits[s.limit]
		if g == nil {
			g = &gauge{name: "calls that wait for limit " + s.limit}
			f.limits[s.limit] = g
		}
		f.add(g, at, map[string]int{"waiting": by})
	}
}

// runs counts a resource that begins or stops running. A resource without a registration has not waited before.
func (f *File) runs(s *span, by int, at time.Time) {
	changes := map[string]int{"running": by}
	if s.resource != nil && s.resource.kind == kindResource {
		changes["waiting"] = -by
	}
	f.add(&f.resources, at, changes)
}
