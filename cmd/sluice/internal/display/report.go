package display

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
)

// Report writes what has become of an operation when it is over: a tree of what changes, and the sections of a [Log]. Of two runs that do
// the same, the reports are the same but for times. A Report is safe for concurrent use.
type Report struct {
	mu sync.Mutex
	facts
	tree    *tree.Tree
	lines   []string // to be written before the tree
	lastOut time.Time
}

// NewReport begins a report with its title.
func NewReport(o Options) *Report {
	r := &Report{facts: newFacts(o), tree: tree.New()}
	r.lastOut = r.m.started
	_, _ = io.WriteString(r.p.Out, r.p.style.bold(o.Title)+"\n")
	return r
}

// Observe takes account of an event.
func (r *Report) Observe(e stages.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m.observe(e)
	r.tree.Observe(e)
	switch e := e.(type) {
	case stages.Prelude:
		if r.p.ShowConfig {
			r.lines = append(r.lines, configText(e.Config))
		}
	case stages.Diagnostic:
		if e.Debugger != nil {
			r.lines = append(r.lines, " @  "+cleanLine(e.Message))
		}
		r.remember(e)
	case stages.Stdout:
		r.lines = append(r.lines, strings.TrimRight(clean(e.Message), "\n"))
	}
}

// Running describes the steps that have begun and not ended, oldest first, with elapsed times.
func (r *Report) Running() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running()
}

// Note adds a line about the operation as a whole.
func (r *Report) Note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, clean(text))
}

// Tick says what takes long, if nothing was written for a while. The caller calls it about ten times a second.
func (r *Report) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.p.Now(); !r.p.SuppressProgress && now.Sub(r.lastOut) >= heartbeat && r.isUnderWay() {
		_, _ = io.WriteString(r.p.Out, r.heartbeat(now)+"\n")
		r.lastOut = now
	}
}

// Leave writes the report in the middle of the operation, because the process ends.
func (r *Report) Leave() { r.Close() }

// Close writes the report. The operation must be over.
func (r *Report) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := r.lines
	draw := r.p.treeText
	if r.p.Diff {
		draw = r.p.treeBlocks
	}
	if text := draw(r.tree); text != "" && !r.p.OnlyEnd {
		parts = append(parts, strings.TrimSuffix(text, "\n"))
	}
	for _, text := range append(parts, r.sections()...) {
		_, _ = io.WriteString(r.p.Out, text+"\n")
	}
}
