package display

import (
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
)

// Report writes what has become of an operation when it is over: a tree of what changes, and the sections of a [Log]. Of two runs that do
// the same, the reports are the same but for times. A Report is safe for concurrent use.
type Report struct {
	mu sync.Mutex
	facts
	tree   *tree.Tree
	holds  bool // lines are held back
	held   heldLines
	said   []string // the last lines that are held back, as a screen shows them
	opened openedStep
}

// NewReport begins a report with its title.
func NewReport(o Options) *Report {
	r := &Report{facts: newFacts(o), tree: tree.New(o.Expected)}
	r.begin()
	return r
}

// Hold keeps lines about the operation as a whole back until the report is written, because a screen shows them until then.
func (r *Report) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = true
}

// say writes a line about the operation as a whole, or holds it back. onScreen is what a screen shows of it until then.
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

// The last lines about the operation as a whole that a screen shows, and how many bytes of each.
const (
	maxSaid     = 4
	maxOnScreen = 4 << 10
)

// Observe takes account of an event.
func (r *Report) Observe(e stages.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m.observe(e)
	r.tree.Observe(e)
	if text, said := r.line(e); said {
		r.say(text, text)
	}
}

// Running describes the steps that have begun and not ended, the longest first, with elapsed times.
func (r *Report) Running() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running()
}

// Note adds a line about the operation as a whole. onScreen is what a screen shows of it that also shows what runs.
func (r *Report) Note(text, onScreen string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(r.p.fitted(clean(text)), clean(onScreen))
}

// Tick says what takes long, if nothing was written for a while. The caller calls it about ten times a second.
func (r *Report) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beat()
}

// Leave writes the report in the middle of the operation, because the process ends.
func (r *Report) Leave() { r.Close() }

// Close writes the report. The operation must be over.
func (r *Report) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := r.held.all()
	draw := treePrinter{r.p}.text
	if r.p.Diff {
		draw = treePrinter{r.p}.blocks
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

// Explain tells the report how the operation has ended, before it is closed.
func (r *Report) Explain(e Ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.explain(e)
}
