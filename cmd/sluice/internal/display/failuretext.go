package display

import (
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// FailureText describes why an operation has failed, for texts that are written after it. It is safe for concurrent
// use.
type FailureText struct {
	mu    sync.Mutex
	facts facts
}

// NewFailureText begins a text about an operation with these options.
func NewFailureText(o Options) *FailureText {
	o.Color, o.Diff, o.ShowFullOutput = false, false, false
	return &FailureText{facts: newFacts(o)}
}

// Observe processes an event.
func (f *FailureText) Observe(e stages.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.facts.m.observe(e)
}

// Fail adds the reason of the failure of the operation as a whole. A terminal shows it elsewhere, and does not count it.
func (f *FailureText) Fail(d stages.Diagnostic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := f.facts.m.failed[""]
	f.facts.m.observe(d)
	if !counts {
		delete(f.facts.m.failed, "")
	}
}

// Text returns the causes, the resources that were not reached because of each, and the next step; "" if nothing has
// failed.
func (f *FailureText) Text(e Ending) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.facts.explain(e)
	text, _ := f.facts.failures().section()
	return strings.TrimSuffix(text, "\n")
}

// Counts are numbers of an operation, as a terminal shows them.
type Counts struct {
	Errored int // resources with errors; 1 if only the operation itself has one
	// Changes has the numbers of resources that changed; nil before the operation has ended.
	Changes   map[stages.Op]int
	Unchanged int // resources that exist and do not change; meaningless before the operation has ended
	Absent    int // registered resources that are not part of the operation
	// Unreached are the resources that were not reached because of a failure or an abort, in the order of types and names. Op is "" unless a
	// preview has predicted the operation.
	Unreached []Predicted
}

// Predicted is a resource with a predicted operation.
type Predicted struct {
	URN urn.URN
	Op  stages.Op
}

// Counts returns the numbers of an operation that has ended so.
func (f *FailureText) Counts(e Ending) Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.facts.explain(e)
	out := Counts{Errored: f.facts.m.errored(), Absent: f.facts.m.absent}
	if f.facts.m.summary != nil {
		out.Changes, out.Unchanged = f.facts.m.changes(), f.facts.m.unchanged()
	}
	if e.Failed == "" && !e.Canceled {
		return out
	}
	causes := f.facts.failures().causes()
	unreached := f.facts.failures().blame(causes)
	for _, c := range causes {
		unreached = append(unreached, c.unreached...)
	}
	slices.SortFunc(unreached, ByKindAndName())
	predicted := f.facts.p.Forecast.operations()
	for _, u := range unreached {
		out.Unreached = append(out.Unreached, Predicted{u, predicted[u]})
	}
	return out
}
