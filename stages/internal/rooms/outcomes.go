package rooms

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Outcomes is the room of the outcomes of decisions. Any stage may read it; [OutcomesWriter] writes it. All rooms of a run share
// it. It is safe for concurrent use.
type Outcomes struct {
	mu        sync.Mutex
	byStep    map[*stages.Decision]stages.Outcome
	reported  []*stages.Decision // the counted and listed steps, in no particular order
	uncertain bool               // the outcome of some operation is unknown (steps.md 9.3)
	lost      []urn.URN          // of resources with such an operation whose provider has not answered
}

// OutcomesWriter writes the outcomes of a run. Only the step executor has it.
type OutcomesWriter struct{ outcomes *Outcomes }

func newOutcomes() (*Outcomes, *OutcomesWriter) {
	o := &Outcomes{byStep: map[*stages.Decision]stages.Outcome{}}
	return o, &OutcomesWriter{o}
}

// Expect records steps that are to be executed, each once. Those that are not executed count as not reached.
func (w *OutcomesWriter) Expect(steps ...*stages.Decision) {
	o := w.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range steps {
		if _, known := o.byStep[d]; !known {
			o.byStep[d] = stages.Outcome{Fate: stages.FateNotReached}
		}
	}
}

// Begin records that a step is being executed.
func (w *OutcomesWriter) Begin(d *stages.Decision) {
	w.become(d, stages.Outcome{Fate: stages.FateBegun})
}

// End records the outcome of a step.
func (w *OutcomesWriter) End(d *stages.Decision, now stages.Outcome) { w.become(d, now) }

func (w *OutcomesWriter) become(d *stages.Decision, now stages.Outcome) {
	o := w.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.of(d)
	if !was.Fate.MayBecome(now.Fate) {
		panic(fmt.Sprintf("%s of %s was %q and cannot become %q", d.Op, d.URN, was.Fate, now.Fate))
	}
	o.byStep[d] = now
}

// Remake records that the state that a step has made has changed since.
func (w *OutcomesWriter) Remake(d *stages.Decision, made *state.Resource) {
	o := w.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	is := o.of(d)
	is.Made = made
	o.byStep[d] = is
}

// Report adds a step to the counted and listed steps of the run.
func (w *OutcomesWriter) Report(d *stages.Decision) {
	o := w.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reported = append(o.reported, d)
}

// SetUncertain records a failed operation that may have taken effect. lost is true if its outcome is unknown.
func (w *OutcomesWriter) SetUncertain(u urn.URN, lost bool) {
	o := w.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	o.uncertain = true
	if lost {
		o.lost = append(o.lost, u)
	}
}

// of returns the outcome of a decision, which is "not reached" at first. The outcomes must be locked.
func (o *Outcomes) of(d *stages.Decision) stages.Outcome {
	is, known := o.byStep[d]
	if !known {
		is.Fate = stages.FateNotReached
	}
	return is
}

// Of returns the outcome of a decision so far.
func (o *Outcomes) Of(d *stages.Decision) stages.Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of(d)
}

// Lost returns the resources with an operation whose outcome is unknown, sorted.
func (o *Outcomes) Lost() []urn.URN {
	o.mu.Lock()
	defer o.mu.Unlock()
	return urn.SortedSet(o.lost)
}

// AreUncertain reports whether the outcome of some operation is unknown (steps.md 9.3).
func (o *Outcomes) AreUncertain() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.uncertain
}

// allReported returns the counted and listed steps, in no particular order.
func (o *Outcomes) allReported() []*stages.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.reported)
}

// with returns decisions and all steps that have an outcome, each once, in no particular order.
func (o *Outcomes) with(ds []*stages.Decision) []*stages.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	listed := make(map[*stages.Decision]bool, len(ds))
	for _, d := range ds {
		listed[d] = true
	}
	for d := range o.byStep {
		if !listed[d] {
			ds = append(ds, d)
		}
	}
	return ds
}

// stepsOf returns decisions with their outcomes so far.
func (o *Outcomes) stepsOf(ds []*stages.Decision) []stages.Step {
	o.mu.Lock()
	defer o.mu.Unlock()
	steps := make([]stages.Step, len(ds))
	for i, d := range ds {
		steps[i] = stages.Step{Decision: d, Outcome: o.of(d)}
	}
	return steps
}
