package display

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Log writes the progress of an operation as lines. A written line shows what has happened, never what is under way. On
// a terminal, a last line that is redrawn shows what is under way. A Log is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	p       stepPrinter
	m       *model
	live    liveLine
	lastOut time.Time // when the last line was written, for heartbeats
	// lastDraw is the time at which the live line was drawn.
	lastDraw time.Time
	// overtaken holds the components that were reported before their outputs were set, and the operation on each.
	overtaken map[urn.URN]stages.Op
}

// heartbeat is how long a log may stay silent while an operation is under way.
const heartbeat = 20 * time.Second

// NewLog begins a log with its title.
func NewLog(o Options) *Log {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Log{p: stepPrinter{o, style{o.Color}}, overtaken: map[urn.URN]stages.Op{}}
	l.m = newModel(o.Now(), o.ShowFullOutput)
	l.lastOut = l.m.started
	l.live = liveLine{out: o.Live, width: o.Width, style: l.p.style}
	l.print(l.p.style.bold(o.Title))
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
	switch e := e.(type) {
	case stages.Prelude:
		if l.p.ShowConfig {
			l.config(e.Config)
		}
	case stages.StepDone:
		l.done(e, took)
	case stages.StepFailed:
		if l.p.Diff && l.p.shows(e.Step) {
			l.print(strings.TrimSuffix(l.p.block(e.Step, 0), "\n"))
		}
		l.print(l.p.failure(e.Step, e.Err, took))
	case stages.Diagnostic:
		l.diagnostic(e)
	case stages.Stdout:
		l.print(strings.TrimRight(clean(e.Message), "\n"))
	}
	if l.live.drawn == "" && l.p.Now().Sub(l.lastDraw) >= redrawInterval { // the line has replaced the live line
		l.redraw()
	}
}

// redrawInterval bounds how often events redraw the live line: there may be thousands of events in a second.
const redrawInterval = 50 * time.Millisecond

// Tick reports steps that take long. The caller calls it about ten times a second.
func (l *Log) Tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.p.Now()
	if l.p.SuppressProgress {
		return
	}
	if l.live.out != nil {
		l.redraw()
		return
	}
	if now.Sub(l.lastOut) >= heartbeat && (len(l.m.running) > 0 || l.isBeginning() || l.p.WaitsFor != "") {
		text := fmt.Sprintf(" @  after %s: %s", formatTook(now.Sub(l.m.started)), l.progress(now))
		if l.live.note != "" {
			text += "; " + l.live.note
		}
		l.print(text)
	}
}

// Close writes the sections at the end: messages, outputs, counts. The operation must be over.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live.clear()
	l.live.out = nil
	l.silentComponents()
	if !l.p.IsPreview {
		l.interrupted()
	}
	for _, section := range []string{
		l.p.policiesSection(l.m), l.p.diagnosticsSection(l.m), l.p.outputsSection(l.m), l.p.wavesSection(l.m), l.p.summarySection(l.m),
	} {
		if section != "" {
			l.print("\n" + strings.TrimSuffix(section, "\n"))
		}
	}
}

// silentComponents reports the components that never registered outputs. They count as done.
func (l *Log) silentComponents() {
	for _, u := range l.m.begun {
		c, waiting := l.m.components[u]
		delete(l.m.components, u)
		if waiting && l.p.shows(c) && c.Op != stages.OpSame {
			l.print(l.p.outcome(c, 0))
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
		l.print(l.p.outcome(c, 0))
	}
}

// Running describes the steps that have begun and not ended, oldest first, with elapsed times.
func (l *Log) Running() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.p.Now()
	out := make([]string, len(l.m.running))
	for i, r := range l.m.running {
		out[i] = l.describe(*r, now)
	}
	return out
}

// Note writes a line about the operation as a whole.
func (l *Log) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(clean(text))
	l.redraw()
}

// config shows the settings. Secrets are masked, as they are in the event.
func (l *Log) config(settings map[string]string) {
	l.print("Configuration:")
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		l.print(fmt.Sprintf("    %s: %s", key, clean(settings[key])))
	}
}

func (l *Log) done(e stages.StepDone, took time.Duration) {
	if !l.p.shows(e.Step) {
		return
	}
	if e.Outputs && (isCustom(e.Step) || l.p.IsPreview || l.overtaken[e.Step.URN] == e.Step.Op) {
		return
	}
	if l.p.Diff {
		l.print(strings.TrimSuffix(l.p.block(e.Step, 0), "\n"))
		if l.p.IsPreview {
			return
		}
	}
	l.print(l.p.outcome(e.Step, took))
}

// diagnostic keeps messages for the section at the end. An ephemeral message is only shown beside the live line.
// Somebody has to attach the debugger that a process waits for, so that is a line of its own.
func (l *Log) diagnostic(d stages.Diagnostic) {
	if d.Debugger != nil {
		l.print(" @  " + cleanLine(d.Message))
		return
	}
	if d.Ephemeral && (d.Severity != stages.Debug || l.p.Debug) {
		l.live.note = firstLine(d.Message)
	}
}

func (l *Log) interrupted() {
	for _, r := range l.m.running {
		w := wordsFor(r.step.Op)
		l.print(l.p.row(w, r.step, w.running+" (interrupted)"))
	}
}

func (l *Log) print(text string) {
	l.live.clear()
	_, _ = io.WriteString(l.p.Out, text+"\n")
	l.lastOut = l.p.Now()
}

func (l *Log) redraw() {
	if l.live.out == nil || l.p.SuppressProgress {
		return
	}
	l.lastDraw = l.p.Now()
	l.live.draw(l.progress(l.lastDraw))
}

// isBeginning reports whether no step has begun yet and there is a description of what is under way instead. If calls wait for a limit, that
// is of more interest.
func (l *Log) isBeginning() bool { return l.p.Beginning != "" && !l.m.begins && len(l.m.limits) == 0 }

// progress returns the progress of the operation: "12 done, 3 running, 5 waiting; creating pkg:mod:Type db (1m12s)". It
// leaves the counts out before the first step. When no step runs, or calls wait for limits, it shows what the operation waits for.
func (l *Log) progress(now time.Time) string {
	if l.isBeginning() && l.live.out == nil { // the line begins with the time
		return l.p.Beginning
	}
	if l.isBeginning() {
		return fmt.Sprintf("%s (%s)", l.p.Beginning, max(now.Sub(l.m.started), 0).Truncate(time.Second))
	}
	if len(l.m.running) == 0 && l.p.WaitsFor != "" && len(l.m.limits) == 0 {
		return fmt.Sprintf("%d done, waiting %s for %s", l.m.done, max(now.Sub(l.m.lastStep), 0).Truncate(time.Second), l.p.WaitsFor)
	}
	text := fmt.Sprintf("%d done, %d running", l.m.done, len(l.m.running))
	if waiting := l.p.Expected - l.m.done - len(l.m.running); waiting > 0 {
		text += fmt.Sprintf(", %d waiting", waiting)
	}
	if len(l.m.limits) > 0 {
		text += "; waiting for the " + limitNames(l.m.limits)
	}
	if oldest, ok := l.m.oldest(); ok {
		text += "; " + l.describe(oldest, now)
	}
	return text
}

// limitNames returns "limit x" or "limits x and 2 others".
func limitNames(limits []string) string {
	switch others := len(limits) - 1; others {
	case 0:
		return "limit " + cleanLine(limits[0])
	case 1:
		return "limits " + cleanLine(limits[0]) + " and " + cleanLine(limits[1])
	default:
		return fmt.Sprintf("limits %s and %d others", cleanLine(limits[0]), others)
	}
}

func (l *Log) describe(r runningStep, now time.Time) string {
	elapsed := max(now.Sub(r.since), 0).Truncate(time.Second)
	return fmt.Sprintf("%s %s (%s)", wordsFor(r.step.Op).running, l.p.subject(r.step.URN), elapsed)
}
