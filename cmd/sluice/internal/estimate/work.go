package estimate

import (
	"cmp"
	"encoding/json"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Work has the steps of an operation and their progress. It is safe for concurrent use.
type Work struct {
	mu      sync.Mutex
	took    *Durations
	changed bool // there are new durations
	workers int
	tasks   []*task         // the planned ones
	at      map[place]*task // those, and steps that began without being planned
	running int
	broken  bool // a step has failed, so that others will not run

	spent  time.Duration // while steps ran, and in short gaps
	last   time.Time     // the end of that time so far
	plan   []moment      // the schedule of the whole
	nextAt time.Time     // when to estimate anew
	shown  string
	steady steady
}

// task is an operation on a resource.
type task struct {
	op       stages.Op // the planned one until it begins
	urn      urn.URN
	needs    []int
	phase    int
	expected time.Duration
	known    bool // takes is known
	progress progress
	since    time.Time // when it began
}

// progress is the progress of a task.
type progress int

const (
	waits progress = iota
	runs
	over
)

// place identifies a step of an operation. The delete of an old copy and the result of a refresh are steps of their own.
type place struct {
	urn   urn.URN
	phase int
}

// The phases of an operation.
const (
	finds = iota
	makes
	removes
)

func placeOf(s stages.StepInfo) place {
	switch verb(s.Op) {
	case "refresh":
		return place{s.URN, finds}
	case "delete":
		return place{s.URN, removes}
	}
	return place{s.URN, makes}
}

// New returns the work of an operation with the steps of its preview, which are nil if there was none. At most so many steps run at once.
func New(took *Durations, steps []stages.StepInfo, workers int) *Work {
	w := &Work{took: took, workers: workers, at: make(map[place]*task, len(steps))}
	index := make(map[place]int, len(steps))
	var states []*state.Resource
	for _, s := range steps {
		p, r := placeOf(s), cmp.Or(s.New, s.Old)
		if _, again := index[p]; again || !counts(s) {
			continue
		}
		index[p] = len(w.tasks)
		t := &task{op: s.Op, urn: s.URN, phase: p.phase}
		w.tasks, states = append(w.tasks, t), append(states, r)
		w.at[p] = t
	}
	for i, t := range w.tasks {
		for ref := range states[i].References() {
			other, is := index[place{ref.URN, t.phase}]
			switch {
			case !is || t.phase == finds:
			case t.phase == makes:
				t.needs = append(t.needs, other)
			default: // its users come first
				w.tasks[other].needs = append(w.tasks[other].needs, i)
			}
		}
	}
	return w
}

// counts reports whether a step calls a provider.
func counts(s stages.StepInfo) bool {
	r := cmp.Or(s.New, s.Old)
	return r != nil && r.Custom && !s.Internal && verb(s.Op) != ""
}

// Observe processes an event.
func (w *Work) Observe(e stages.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case stages.StepStarted:
		if !e.Planning && counts(e.Step) {
			w.begin(e.Step, e.At)
		}
	case stages.StepDone:
		if !e.Planning && !e.Outputs {
			w.end(e.Step, e.At, true)
		}
	case stages.StepFailed:
		w.broken = true
		w.end(e.Step, e.At, false)
	}
}

// longGap is the longest time without a running step that counts as work. In a longer gap the operation is paused, or the program does something
// of unpredictable duration.
const longGap = 3 * time.Second

func (w *Work) pass(now time.Time) {
	if gap := now.Sub(w.last); !w.last.IsZero() && gap > 0 && (w.running > 0 || gap < longGap) {
		w.spent += gap
	}
	w.last = now
}

func (w *Work) begin(s stages.StepInfo, at time.Time) {
	w.pass(at)
	p := placeOf(s)
	t := w.at[p]
	if t == nil {
		t = &task{urn: s.URN, phase: p.phase}
		w.at[p] = t
	}
	if t.progress != runs {
		w.running++
	}
	t.op, t.since, t.progress = s.Op, at, runs
}

func (w *Work) end(s stages.StepInfo, at time.Time, succeeded bool) {
	t := w.at[placeOf(s)]
	if t == nil || t.progress != runs { // a refresh may end with another kind of step
		if found := w.at[place{s.URN, finds}]; found != nil && found.progress == runs {
			t = found
		}
	}
	if t == nil {
		return
	}
	if t.progress == runs {
		w.pass(at)
		w.running--
		if succeeded {
			w.took.add(t.op, s.URN, max(at.Sub(t.since), 0))
			w.changed = true
		}
	}
	t.progress = over
}

// Left formats how long the operation will still take, "" if there is no estimate.
func (w *Work) Left(now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Before(w.nextAt) {
		return w.shown
	}
	// To process 100,000 steps takes about 15 milliseconds.
	w.nextAt = now.Add(max(time.Second, time.Duration(len(w.tasks))*30*time.Microsecond))
	w.shown = ""
	if left, known := w.estimate(now); known {
		w.shown = text(w.steady.next(now, left))
	}
	return w.shown
}

const (
	// soonest is the time after which the first estimate is made.
	soonest = 2 * time.Second
	// mostUnknown is the maximal share of unfinished tasks of unknown duration.
	mostUnknown = 0.1
	// overdue is the multiple of its expected duration after which a running step makes an estimate impossible.
	overdue = 3
	// fastest and slowest are the limits on the speed of the operation relative to its schedule.
	fastest, slowest = 0.2, 50
)

// estimate compares the progress of the operation with that of its schedule, and extrapolates: the rest is expected to be as much slower as the
// part so far.
func (w *Work) estimate(now time.Time) (left time.Duration, known bool) {
	if w.running > 0 {
		w.pass(now)
	}
	if w.broken || len(w.tasks) == 0 || w.spent < soonest || !w.learn() {
		return 0, false
	}
	var done time.Duration
	rest := make([]job, len(w.tasks))
	for i, t := range w.tasks {
		rest[i] = job{takes: t.expected, needs: t.needs, phase: t.phase}
		switch {
		case t.progress == over:
			done += t.expected
			rest[i].takes, rest[i].runs = 0, true
		case t.progress == runs:
			elapsed := now.Sub(t.since)
			if elapsed > overdue*t.expected+slowness {
				return 0, false
			}
			done += min(elapsed, t.expected)
			rest[i].takes, rest[i].runs = max(t.expected-elapsed, elapsed/4), true
		}
	}
	pace := float64(w.spent) / float64(max(reached(w.plan, done), time.Millisecond))
	history := schedule(rest, w.workers)
	return time.Duration(float64(history[len(history)-1].at) * min(max(pace, fastest), slowest)), true
}

// learn sets the expected durations of steps, and reports whether enough are known.
func (w *Work) learn() bool {
	unknown, open, learned := 0, 0, w.plan == nil
	var sum time.Duration
	for _, t := range w.tasks {
		if !t.known {
			if took, known := w.took.of(t.op, t.urn); known {
				t.expected, t.known, learned = took, true, true
			}
		}
		if t.progress != over {
			open++
		}
		if t.known {
			sum += t.expected
		} else if t.progress != over {
			unknown++
		}
	}
	if float64(unknown) > mostUnknown*float64(open) {
		return false
	}
	if learned {
		w.foresee(sum)
	}
	return true
}

// foresee makes the schedule of the whole. sum is the total of the known durations; the others are taken to be average.
func (w *Work) foresee(sum time.Duration) {
	known := 0
	for _, t := range w.tasks {
		if t.known {
			known++
		}
	}
	all := make([]job, len(w.tasks))
	for i, t := range w.tasks {
		if !t.known {
			t.expected = sum / time.Duration(max(known, 1))
		}
		all[i] = job{takes: t.expected, needs: t.needs, phase: t.phase}
	}
	w.plan = schedule(all, w.workers)
}

// durations returns the record to save, nil if it has not changed.
func (w *Work) durations() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.changed {
		return nil, nil
	}
	w.took.trim()
	return json.Marshal(file{Version: 1, Resources: w.took.resources, Types: w.took.types})
}
