package display

import (
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Log writes the progress of an operation as lines, each when it happens. A Log is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	facts
	// overtaken holds the components that were reported before their outputs were set, and the operation on each.
	overtaken map[urn.URN]stages.Op
}

// NewLog begins a log with its title.
func NewLog(o Options) *Log {
	l := &Log{facts: newFacts(o), overtaken: map[urn.URN]stages.Op{}}
	l.write(l.p.style.bold(o.Title))
	return l
}

// Observe shows an event.
func (l *Log) Observe(e stages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, begins := e.(stages.StepStarted); begins {
		l.overtake(e.Step)
	}
	took := l.m.observe(e)
	if text, said := l.line(e); said {
		l.write(text)
	}
	switch e := e.(type) {
	case stages.StepDone:
		l.done(e, took)
	case stages.StepFailed:
		if l.p.Diff && l.p.shows(e.Step) {
			l.write(strings.TrimSuffix(l.p.block(e.Step, 0), "\n"))
		}
		l.write(l.p.failure(e.Step, e.Err, took))
	}
}

// Tick reports steps that take long. The caller calls it about ten times a second.
func (l *Log) Tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beat()
}

// Leave does nothing: what has happened is written already.
func (*Log) Leave() {}

// Close writes the sections at the end: messages, outputs, counts. The operation must be over.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silentComponents()
	if !l.p.IsPreview {
		l.interrupted()
	}
	for _, section := range l.sections() {
		l.write(section)
	}
}

// silentComponents reports the components that never registered outputs. They count as done.
func (l *Log) silentComponents() {
	for _, u := range l.m.begun {
		c, waiting := l.m.components[u]
		delete(l.m.components, u)
		if waiting && l.p.shows(c) && c.Op != stages.OpSame {
			l.write(l.p.outcome(c, 0))
		}
	}
}

// overtake reports a component that waits for its outputs when the next step of its URN begins. A destroy that runs the
// program may make the root stack and delete it before its outputs are set.
func (l *Log) overtake(next stages.StepInfo) {
	c, waiting := l.m.components[next.URN]
	if !waiting || sameStep(c, next) || l.p.IsPreview {
		return
	}
	l.overtaken[next.URN] = c.Op
	if l.p.shows(c) {
		l.write(l.p.outcome(c, 0))
	}
}

// Running describes the steps that have begun and not ended, oldest first, with elapsed times.
func (l *Log) Running() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running()
}

// Note writes a line about the operation as a whole.
func (l *Log) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(clean(text))
}

func (l *Log) done(e stages.StepDone, took time.Duration) {
	if !l.p.shows(e.Step) {
		return
	}
	if e.Outputs && (tree.IsCustom(e.Step) || l.p.IsPreview || l.overtaken[e.Step.URN] == e.Step.Op) {
		return
	}
	if l.p.Diff {
		l.write(strings.TrimSuffix(l.p.block(e.Step, 0), "\n"))
		if l.p.IsPreview {
			return
		}
	}
	l.write(l.p.outcome(e.Step, took))
}

func (l *Log) interrupted() {
	for _, r := range l.m.running {
		w := wordsFor(r.step.Op)
		l.write(l.p.row(w, r.step, w.running+" (interrupted)"))
	}
}
