package timing

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// File writes spans as a trace for Perfetto and the tracing page of Chrome: a JSON array of events in the Trace Event Format. An
// unclosed array can be opened too, so the file is usable whenever the process ends.
//
// It writes each event at once. It keeps only the places of slices that may get arrows.
type File struct {
	out     *bufio.Writer
	closer  io.Closer
	now     func() time.Time
	err     error // the first error of a write
	written int
	flushed time.Time
	origin  time.Time // the zero of times

	processes map[string]*process
	under     map[trace.SpanID]slice // drawn spans that are not over
	open      map[*span]bool         // the same spans
	last      map[trace.SpanID]slice // the last slice of each resource, by the span ID in links
	arrows    uint64

	resources, calls gauge
	limits           map[string]*gauge
}

// process is a group of tracks.
type process struct {
	id      int
	threads map[string]*group
	tracks  int
}

// group has tracks of one kind, as many as are needed at once.
type group struct {
	lanes
	first []int // the thread number of each lane
}

// slice is the place of a span in the picture.
type slice struct {
	pid, tid   int
	of         *group // nil if it uses no lane
	lane       int
	start, end int64 // in nanoseconds since the origin
}

// event is an event of the format. Its times are in microseconds.
type event struct {
	Name     string `json:"name"`
	Category string `json:"cat,omitempty"`
	Phase    string `json:"ph"`
	At       micros `json:"ts"`
	Duration micros `json:"dur,omitempty"`
	Process  int    `json:"pid"`
	Thread   int    `json:"tid"`
	ID       uint64 `json:"id,omitempty"`
	Binding  string `json:"bp,omitempty"`
	Args     any    `json:"args,omitempty"`
}

// micros is a time in nanoseconds, written in microseconds.
type micros int64

func (m micros) MarshalJSON() ([]byte, error) {
	text := strconv.AppendInt(nil, int64(m)/1000, 10)
	if rest := int64(m) % 1000; rest != 0 {
		text = fmt.Appendf(text, ".%03d", rest)
	}
	return text, nil
}

// CreateFile begins a trace in a file, which it replaces.
func CreateFile(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return newFile(f, time.Now), nil
}

func newFile(to io.WriteCloser, now func() time.Time) *File {
	f := &File{
		out: bufio.NewWriterSize(to, 1<<16), closer: to, now: now, flushed: now(), processes: map[string]*process{},
		under: map[trace.SpanID]slice{}, open: map[*span]bool{}, last: map[trace.SpanID]slice{}, limits: map[string]*gauge{},
	}
	f.resources.name, f.calls.name = "resources", "calls of providers"
	return f
}

// Close ends the trace. Call it when all spans have ended; it ends the others now. It returns the first error of writing.
func (f *File) Close() error {
	rest := make([]*span, 0, len(f.open))
	for s := range f.open {
		rest = append(rest, s)
	}
	slices.SortFunc(rest, func(a, b *span) int { return a.start.Compare(b.start) })
	for _, s := range rest {
		s.end, s.unfinished = f.now(), true
		f.ended(s)
	}
	for _, g := range f.gauges() {
		f.plot(g)
	}
	if f.written == 0 {
		f.write("[")
	}
	f.write("\n]\n")
	f.note(f.out.Flush())
	f.note(f.closer.Close())
	return f.err
}

func (f *File) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *File) write(text string) {
	if f.err == nil {
		_, err := f.out.WriteString(text)
		f.note(err)
	}
}

// flushEvery limits how much of a trace is lost when the process is killed.
const flushEvery = time.Second

func (f *File) emit(e event) {
	if f.err != nil {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		f.note(err)
		return
	}
	before := ",\n"
	if f.written == 0 {
		before = "[\n"
	}
	f.written++
	f.write(before)
	f.write(string(text))
	if now := f.now(); now.Sub(f.flushed) >= flushEvery {
		f.flushed = now
		f.note(f.out.Flush())
	}
}

func (f *File) at(t time.Time) int64 { return max(0, t.Sub(f.origin).Nanoseconds()) }

// process returns the group of tracks with a name. It creates a missing group.
func (f *File) process(name string) *process {
	p := f.processes[name]
	if p == nil {
		p = &process{id: len(f.processes) + 1, threads: map[string]*group{}}
		f.processes[name] = p
		f.emit(event{Name: "process_name", Phase: "M", Process: p.id, Args: map[string]any{"name": name}})
		f.emit(event{Name: "process_sort_index", Phase: "M", Process: p.id, Args: map[string]any{"sort_index": p.id}})
	}
	return p
}

// track takes a track of a kind that is free from a time on.
func (f *File) track(in, kind string, start int64) slice {
	p := f.process(in)
	g := p.threads[kind]
	if g == nil {
		g = &group{}
		p.threads[kind] = g
	}
	n := g.take(start)
	if n == len(g.first) {
		p.tracks++
		g.first = append(g.first, p.tracks)
		name := kind
		if n > 0 || kind == workerTrack || kind == callTrack {
			name = fmt.Sprintf("%s %d", kind, n+1)
		}
		f.emit(event{Name: "thread_name", Phase: "M", Process: p.id, Thread: p.tracks, Args: map[string]any{"name": name}})
		f.emit(event{Name: "thread_sort_index", Phase: "M", Process: p.id, Thread: p.tracks, Args: map[string]any{"sort_index": p.tracks}})
	}
	return slice{pid: p.id, tid: g.first[n], of: g, lane: n, start: start}
}

// The names of tracks.
const (
	engineProcess = "sluice"
	workerProcess = "workers"
	workerTrack   = "worker"
	callTrack     = "call"
)

// place returns the slice of a span, and whether the span is drawn.
func (f *File) place(s *span) (slice, bool) {
	switch s.kind {
	case kindCommand, kindOperation:
		return f.track(engineProcess, s.name, f.at(s.start)), true
	case kindPhase, kindOther:
		return f.track(engineProcess, "phases", f.at(s.start)), true
	case kindProgram:
		return f.track(engineProcess, "program", f.at(s.start)), true
	case kindPlugin:
		return f.track(engineProcess, "starts of plugins", f.at(s.start)), true
	case kindStep:
		return f.track(workerProcess, workerTrack, f.at(s.start)), true
	case kindCall:
		return f.track("provider "+s.provides(), callTrack, f.at(s.start)), true
	}
	return slice{}, false
}

func (f *File) began(s *span) {
	if f.origin.IsZero() {
		f.origin = s.start
	}
	if at, drawn := f.place(s); drawn {
		f.under[s.id], f.open[s] = at, true
		f.drawArrows(s, at)
	}
	f.plotChange(s, 1, s.start)
}

func (f *File) ended(s *span) {
	f.plotChange(s, -1, s.end)
	at, drawn := f.under[s.id]
	if !drawn {
		return
	}
	delete(f.under, s.id)
	delete(f.open, s)
	at.end = max(f.at(s.end), at.start+1)
	at.of.free(at.lane, at.end)
	f.emit(event{
		Name: s.title(), Category: s.category(), Phase: "X", At: micros(at.start), Duration: micros(at.end - at.start),
		Process: at.pid, Thread: at.tid, Args: s.arguments(),
	})
	if s.resource != nil {
		at.of = nil
		f.last[s.resource.id] = at
	}
}

// drawArrows draws arrows to the first slice of a resource, from the last slices of the resources that preceded it.
func (f *File) drawArrows(s *span, to slice) {
	of := s.resource
	if of == nil || of.flows {
		return
	}
	of.flows = true
	for _, l := range of.links() {
		from, known := f.last[l.SpanContext.SpanID()]
		if !known || from.end > to.start+1 {
			continue
		}
		f.arrows++
		arrow := event{Name: "dependency", Category: "dependency", ID: f.arrows}
		begin, end := arrow, arrow
		begin.Phase, begin.At, begin.Process, begin.Thread = "s", micros(from.end-1), from.pid, from.tid // within the slice
		end.Phase, end.At, end.Process, end.Thread, end.Binding = "f", micros(to.start), to.pid, to.tid, "e"
		f.emit(begin)
		f.emit(end)
	}
}

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

// lanes are tracks for spans that follow one another: each span takes the first free lane. Spans are reported a little after they begin
// and end, so a lane may be freed before an earlier span is reported.
type lanes struct {
	busy []bool
	ends []int64 // of the last span on each lane, in nanoseconds
}

// take returns the number of a lane that is free from a time on.
func (l *lanes) take(start int64) int {
	for i, busy := range l.busy {
		if !busy && l.ends[i] <= start {
			l.busy[i] = true
			return i
		}
	}
	l.busy, l.ends = append(l.busy, true), append(l.ends, 0)
	return len(l.busy) - 1
}

// free frees a lane from a time on.
func (l *lanes) free(n int, end int64) { l.busy[n], l.ends[n] = false, end }
