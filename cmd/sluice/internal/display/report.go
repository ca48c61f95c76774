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
	mu sync.Mutex
	facts
	tree   *tree.Tree
	holds  bool // lines are held back
	held   heldLines
	said   []string // the last held lines, as a screen shows them
	opened openedStep
}

// NewReport begins a report with its title.
func NewReport(o Options) *Report {
	r := &Report{facts: newFacts(o), tree: tree.New(o.Expected)}
	r.begin()
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
		r.write(text)
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
	r.m.observe(e)
	r.tree.Observe(e)
	if text, said := r.line(e); said {
		r.say(text, text)
	}
}

// Running describes the running steps with elapsed times, the longest first.
func (r *Report) Running() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running()
}

// Note adds a line about the operation as a whole. onScreen is its text for a screen that also shows running steps.
func (r *Report) Note(text, onScreen string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(r.p.layout().fitted(clean(text)), clean(onScreen))
}

// Tick reports slow steps, if nothing was written for a while. Call it about ten times a second.
func (r *Report) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beat()
}

// Leave writes the report when the process ends during the operation.
func (r *Report) Leave() { r.Close() }

// Close writes the report. The operation must be over.
func (r *Report) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := r.held.all()
	draw := treePrinter{steps: r.p}.text
	if r.p.Diff {
		draw = treePrinter{steps: r.p}.blocks
	}
	if text := draw(r.tree); text != "" && !r.p.OnlyEnd {
		parts = append(parts, strings.TrimSuffix(text, "\n"))
	}
	for _, x := range r.tree.Top.Below.Done {
		if r.p.shows(stages.StepInfo{Op: x.Op.Whole()}) && x.Op != stages.OpSame {
			r.signs[x.Op] = true
		}
	}
	for _, text := range parts {
		r.write(text)
	}
	r.end()
}

// Explain sets how the operation has ended. Call it before Close.
func (r *Report) Explain(e Ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.explain(e)
	for i := range e.Planned {
		r.tree.Correct(&e.Planned[i])
	}
}

// Look calls f with the present sight, which is valid until f returns.
func (r *Report) Look(f func(Sight)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.p.Now()
	s := Sight{
		Tree: r.tree, Title: strings.TrimSuffix(r.p.Title, ":"), IsPreview: r.p.IsPreview, Elapsed: max(now.Sub(r.m.started), 0),
		Expected: r.p.Expected, Done: r.m.done, Remaining: r.m.remaining, Waiting: r.m.waiting(r.p.Expected), Running: len(r.m.running), Errored: r.m.errored(), Note: r.note, said: r.said, p: r.p, m: r.m, now: now, opened: &r.opened, decided: cmp.Or(r.ending.Log, r.p.Planned),
	}
	switch {
	case r.isBeginning():
		s.Doing = r.p.Beginning
	case s.Running > 0:
	case r.p.WaitsFor != "":
		s.Doing = r.waits(now)
	}
	if r.p.Left != nil {
		s.Left = r.p.Left(now)
	}
	if len(r.m.limits) > 0 {
		s.Limit = limitNames(r.m.limits)
	}
	f(s)
}
