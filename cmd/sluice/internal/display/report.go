package display

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
)

// Report writes the result of an operation when it is over: a tree of the changes, and the sections of a [Log]. Two runs that do the same
// have the same reports, except for times. A Report is safe for concurrent use.
type Report struct {
	mu     sync.Mutex
	facts  facts
	tree   *tree.Tree
	holds  bool // lines are held back
	held   heldLines
	said   []string // the last held lines, as a screen shows them
	opened openedStep
}

// NewReport begins a report with its title.
func NewReport(o Options) *Report {
	r := &Report{facts: newFacts(o), tree: tree.New(o.Expected)}
	r.facts.begin()
	return r
}

// Hold holds lines about the operation as a whole back until the report is written, because a screen shows them until then.
func (r *Report) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = true
}

// say writes a line about the operation as a whole, or holds it back. onScreen is its text for a screen.
func (r *Report) say(text, onScreen string) {
	if !r.holds {
		r.facts.write(text)
		return
	}
	r.held.add(text)
	if len(onScreen) > maxOnScreen {
		onScreen = strings.ToValidUTF8(strings.Clone(onScreen[:maxOnScreen]), "")
	}
	r.said = append(r.said, onScreen)
	r.said = slices.Clone(r.said[max(len(r.said)-maxSaid, 0):])
}

// Limits on the lines about the operation as a whole on a screen: their number, and the bytes of each.
const (
	maxSaid     = 4
	maxOnScreen = 4 << 10
)

// Observe processes an event.
func (r *Report) Observe(e stages.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts.m.observe(e)
	r.tree.Observe(e)
	if text, said := r.facts.line(e); said {
		r.say(text, text)
	}
}

// Running describes the running steps with elapsed times, the longest first.
func (r *Report) Running() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts.running()
}

// Note adds a line about the operation as a whole. onScreen is its text for a screen that also shows running steps.
func (r *Report) Note(text, onScreen string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(r.facts.p.layout().fitted(clean(text)), clean(onScreen))
}

// Tick reports slow steps, if nothing was written for a while. Call it about ten times a second.
func (r *Report) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts.beat()
}

// Leave writes the report when the process ends during the operation.
func (r *Report) Leave() { r.Close() }

// Close writes the report. The operation must be over.
func (r *Report) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := r.held.all()
	printer := treePrinter{steps: r.facts.p, signs: r.facts.signs}
	draw := printer.text
	if r.facts.p.Diff {
		draw = printer.blocks
	}
	if text := draw(r.tree); text != "" && !r.facts.p.OnlyEnd {
		parts = append(parts, strings.TrimSuffix(text, "\n"))
	}
	for _, text := range parts {
		r.facts.write(text)
	}
	r.facts.end()
}

// Explain sets how the operation has ended. Call it before Close.
func (r *Report) Explain(e Ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts.explain(e)
	for i := range e.Planned {
		r.tree.Correct(&e.Planned[i])
	}
}

// Look calls f with the present sight, which is valid until f returns.
func (r *Report) Look(f func(Sight)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.facts.p.Now()
	s := Sight{
		Tree: r.tree, Title: strings.TrimSuffix(r.facts.p.Title, ":"), IsPreview: r.facts.p.IsPreview, Elapsed: max(now.Sub(r.facts.m.started), 0),
		Expected: r.facts.p.Expected, Done: r.facts.m.done, Remaining: r.facts.m.remaining, Waiting: r.facts.m.waiting(r.facts.p.Expected), Running: len(r.facts.m.running), Errored: r.facts.m.errored(), Note: r.facts.note, said: r.said, p: r.facts.p, m: r.facts.m, now: now, opened: &r.opened, decided: cmp.Or(r.facts.ending.Log, r.facts.p.Planned),
	}
	switch {
	case r.facts.isBeginning():
		s.Doing = r.facts.p.Beginning
	case s.Running > 0:
	case r.facts.p.WaitsFor != "":
		s.Doing = r.facts.waits(now)
	}
	if r.facts.p.Left != nil {
		s.Left = r.facts.p.Left(now)
	}
	if len(r.facts.m.limits) > 0 {
		s.Limit = limitNames(r.facts.m.limits)
	}
	f(s)
}
