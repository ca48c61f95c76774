package display

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Log writes the progress of an operation as lines: failures and messages at once, and the rows of resources when their order allows it (see
// [Options.Forecast]). A replacement has one row, whatever the number of its steps. A Log is safe for concurrent use.
type Log struct {
	mu       sync.Mutex
	facts    facts
	rows     logRows
	finished bool // the end is written
	replaced replacements
	// overtaken holds the components that were reported before their outputs were set, and the operation on each.
	overtaken map[urn.URN]stages.Op
	// found has what a refresh has found, until another step of the resource has a row or it is known that none has.
	found map[urn.URN]logRow
	// causes names the first resource that has failed with each error.
	causes map[string]string
}

// NewLog begins a log with its title.
func NewLog(o Options) *Log {
	if o.Events {
		o.Forecast, o.ShowReplacementSteps = nil, true
	}
	l := &Log{facts: newFacts(o), overtaken: map[urn.URN]stages.Op{}, found: map[urn.URN]logRow{}, causes: map[string]string{}, replaced: replacements{of: map[urn.URN]*replacement{}}}
	l.rows = newLogRows(l.facts.p, o.Forecast)
	l.facts.begin()
	return l
}

// Observe shows an event.
func (l *Log) Observe(e stages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, begins := e.(stages.StepStarted); begins {
		l.overtake(e.Step)
		if l.facts.p.shows(e.Step) && e.Step.Op != stages.OpRefresh { // most refreshes have no row
			l.rows.expect(l.facts.p, e.Step)
		}
	}
	took := l.facts.m.observe(e)
	if e, begins := e.(stages.StepStarted); begins && l.facts.p.Events {
		l.began(e.Step)
	}
	if text, said := l.facts.line(e); said {
		l.facts.write(text)
	}
	switch e := e.(type) {
	case stages.StepDone:
		l.done(e, took)
	case stages.StepFailed:
		l.failed(e, took)
	}
	l.flush(false)
}

// began writes a line for a step that begins. A preview takes no steps.
func (l *Log) began(s stages.StepInfo) {
	if w := wordsFor(s.Op); !l.facts.p.IsPreview && w.running != "" && s.Op != stages.OpRefresh && l.facts.p.shows(s) {
		l.facts.write(l.rows.printer(l.facts.p).row(s, cleanLine(s.URN.Name()), l.facts.p.style.paint(w.colour, w.running)))
	}
}

// Tick writes rows that have waited long enough, and reports slow steps. Call it about ten times a second.
func (l *Log) Tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush(false)
	l.facts.beat()
}

// Leave writes the remaining rows when the process ends during the operation. It leaves out incomplete components.
func (l *Log) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish()
}

// Close writes the remaining rows, and the sections at the end: messages, outputs, counts. The operation must be over.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silentComponents()
	l.finish()
}

func (l *Log) finish() {
	if l.finished {
		return
	}
	l.finished = true
	l.rows.others = append(l.rows.others, l.replaced.left()...)
	l.rows.others = slices.AppendSeq(l.rows.others, maps.Values(l.found)) // a portion is sorted
	l.flush(true)
	l.interrupted()
	l.facts.end()
}

// flush writes the rows that are due.
func (l *Log) flush(end bool) {
	for _, rows := range l.rows.ready(l.facts.p.Now(), end) {
		for _, text := range l.rows.printer(l.facts.p).portion(rows) {
			l.facts.write(text)
		}
		for _, r := range rows {
			l.facts.signs[r.step.Op] = true
		}
	}
}

// silentComponents ends the components that never registered outputs. They count as done.
func (l *Log) silentComponents() {
	for _, u := range l.facts.m.begun {
		c, waiting := l.facts.m.components[u]
		delete(l.facts.m.components, u)
		if waiting && l.facts.p.shows(c) && c.Op != stages.OpSame {
			l.over(c, 0)
		}
	}
}

// overtake ends a component that waits for its outputs when the next step of its URN begins. A destroy that runs the program may create and
// delete the root stack before its outputs are set.
func (l *Log) overtake(next stages.StepInfo) {
	c, waiting := l.facts.m.components[next.URN]
	if !waiting || sameStep(&c, &next) {
		return
	}
	l.overtaken[next.URN] = c.Op
	if l.facts.p.shows(c) {
		l.over(c, 0)
	}
}

// over adds the row of a step that has succeeded. What a refresh has found before another operation has a row only if nothing else happens to the
// resource, whose row has the reason.
func (l *Log) over(s stages.StepInfo, took time.Duration) {
	if s.Op == stages.OpRefresh && !l.facts.p.IsRefresh && !l.facts.p.ShowReplacementSteps {
		l.found[s.Resource()] = logRow{s, took}
		l.rows.close(placeOf(s))
		return
	}
	l.forget(&s)
	if isReplacementPart(s.Op) || s.Op == stages.OpReplace {
		if !l.facts.p.ShowReplacementSteps {
			row, complete := l.replaced.take(s, took)
			if !complete {
				return
			}
			s, took = row.step, row.took
		}
	}
	l.rows.end(placeOf(s), logRow{s, took}, l.facts.p.Now())
}

// forget drops what a refresh has found, because a step has a row of its own.
func (l *Log) forget(s *stages.StepInfo) {
	for _, u := range []urn.URN{s.URN, s.Resource(), s.FormerURN()} {
		delete(l.found, u)
	}
}

// Running describes the running steps with elapsed times, the longest first.
func (l *Log) Running() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.facts.running()
}

// Note writes a line about the operation as a whole. A log has no use for the text for a screen.
func (l *Log) Note(text, _ string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.write(l.facts.p.layout().fitted(clean(text)))
}

// Explain sets how the operation has ended. Call it before Close.
func (l *Log) Explain(e Ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.explain(e)
}

func (l *Log) done(e stages.StepDone, took time.Duration) {
	if !l.facts.p.shows(e.Step) {
		if e.Step.Op == stages.OpSame && !e.Outputs {
			l.rows.close(placeOf(e.Step)) // the step differs from the forecast
			if row, drifted := l.found[e.Step.Resource()]; drifted {
				delete(l.found, e.Step.Resource())
				l.rows.end(placeOf(row.step), row, l.facts.p.Now())
			}
		}
		return
	}
	if e.Outputs && (tree.IsCustom(&e.Step) || l.overtaken[e.Step.URN] == e.Step.Op) {
		return
	}
	l.over(e.Step, took)
}

// failed writes a failure at once, because the user may want to react. It writes an error of many resources once: a plugin that exits, or a
// Ctrl-C, makes all running steps fail.
func (l *Log) failed(e stages.StepFailed, took time.Duration) {
	l.rows.close(placeOf(e.Step))
	l.forget(&e.Step)
	if l.facts.p.Diff && l.facts.p.shows(e.Step) {
		l.facts.write(strings.TrimSuffix(l.facts.p.layout().fitted(blockPrinter{l.facts.p}.text(e.Step, 0)), "\n"))
	}
	l.facts.signs[e.Step.Op] = true
	name := cleanLine(e.Step.URN.Name())
	first, known := "", false
	if e.Err != nil {
		if first, known = l.causes[e.Err.Error()]; !known {
			l.causes[e.Err.Error()] = name
		}
	}
	said := l.facts.p.failed(e.Step, e.Err, took)
	if known {
		said = l.facts.p.failed(e.Step, nil, took) + " with the same error as " + first
	}
	l.facts.write(l.rows.printer(l.facts.p).row(e.Step, name, said))
}

func (l *Log) interrupted() {
	for _, r := range l.facts.m.running {
		w := wordsFor(r.step.Op)
		l.facts.signs[r.step.Op] = true
		l.facts.write(l.rows.printer(l.facts.p).row(r.step, cleanLine(r.step.URN.Name()), w.running+" (interrupted)"))
	}
}
