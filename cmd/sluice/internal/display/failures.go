package display

import (
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Ending describes the end of an operation, besides its events.
type Ending struct {
	Failed string // the operation that has failed, for example "update"; "" if none has
	// Canceled is true if the operation was ended early, and the only failures are aborted steps.
	Canceled bool
	Order    map[urn.URN]int  // the sequence number of the first failure of each resource
	Advised  map[urn.URN]bool // whose messages contain advice
	Decided  []Unreached      // decided, and not reached
	// NextStep returns advice about the first cause if its message contains none. It may be nil.
	NextStep func(Failure) string
	// Planned are the steps of a preview in their final form. An event may have named another one of several causes, because the first of
	// them in the canonical order was decided later.
	Planned []stages.StepInfo
	// Log is the log of decisions; without it, there is nothing about root causes.
	Log *why.Log
}

// Unreached is a resource with a decision that was not carried out.
type Unreached struct {
	URN     urn.URN
	Because urn.URN // the resource that failed; "" if the operation had stopped
}

// Failure is one cause of a failed operation.
type Failure struct {
	URN     urn.URN // "" for the program, or the operation as a whole
	Unknown bool    // the outcome of a step of the operation is unknown
	Preview bool
	// Interrupted is true if the operation was interrupted: aborted steps have failed for that reason.
	Interrupted bool
}

// Limits on the failures at the end. The rest is among the diagnostics.
const (
	maxCauses     = 10
	maxCauseLines = 12 // of one of several causes; a single one is written as a whole
	maxNotReached = 8
)

// cause is a failure of one resource, and of others in the same way.
type cause struct {
	urn       urn.URN
	others    []urn.URN
	messages  []message
	unreached []urn.URN
}

// resources returns the resources that have failed.
func (c *cause) resources() []urn.URN { return append([]urn.URN{c.urn}, c.others...) }

// FailureText describes why an operation has failed, for texts that are written after it. It is safe for concurrent
// use.
type FailureText struct {
	mu sync.Mutex
	facts
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
	f.m.observe(e)
}

// Fail adds the reason of the failure of the operation as a whole. A terminal shows it elsewhere, and does not count it.
func (f *FailureText) Fail(d stages.Diagnostic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := f.m.failed[""]
	f.m.observe(d)
	if !counts {
		delete(f.m.failed, "")
	}
}

// Text returns the causes, the resources that were not reached because of each, and the next step; "" if nothing has
// failed.
func (f *FailureText) Text(e Ending) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.explain(e)
	text, _ := f.failureSection()
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
	f.explain(e)
	out := Counts{Errored: f.m.errored(), Absent: f.m.absent}
	if f.m.summary != nil {
		out.Changes, out.Unchanged = f.m.changes(), f.m.unchanged()
	}
	if e.Failed == "" && !e.Canceled {
		return out
	}
	causes := f.causes()
	unreached := f.blame(causes)
	for _, c := range causes {
		unreached = append(unreached, c.unreached...)
	}
	slices.SortFunc(unreached, ByKindAndName())
	predicted := f.p.Forecast.operations()
	for _, u := range unreached {
		out.Unreached = append(out.Unreached, Predicted{u, predicted[u]})
	}
	return out
}
