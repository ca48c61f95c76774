package stages

import (
	"cmp"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Fate is what became of a decision.
type Fate string

// The fates of decisions.
const (
	Done       Fate = ""            // in a preview: it could be done
	Fell       Fate = "failed"      // it was tried and failed
	Skipped    Fate = "skipped"     // something that it depends on failed
	NotReached Fate = "not-reached" // the run stopped before
)

// Decided is one decision of a run: a step, whether or not it was taken.
type Decided struct {
	*StepInfo
	Fate Fate
	// Blame is the failed resource because of which it was skipped.
	Blame urn.URN
	// Wanted is the state that was decided on. [StepInfo.New] may be another one when the step has failed half way.
	Wanted *state.Resource
}

// decisions are the steps that were decided on, in no particular order. Several stages decide.
type decisions struct {
	mu   sync.Mutex
	list []*Step
}

// note writes steps down, each once.
func (d *decisions) note(steps ...*Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range steps {
		if !s.noted {
			s.noted = true
			d.list = append(d.list, s)
		}
	}
}

// noteStay writes down that a recorded state stays although nothing has declared it. Nothing is done about it.
func (r *Run) noteStay(res *state.Resource, why Reason) {
	r.decisions.note(&Step{StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Reason: why, Internal: isDefaultProvider(res.URN),
	}, seq: afterAll, taken: true})
}

// Decided returns everything that the run has decided, in the order of the registrations' arrival, then what was decided
// about the rest. It is called once the run is over.
func (r *Run) Decided() []Decided {
	r.decisions.mu.Lock()
	steps := r.withoutSuperseded(r.decisions.list)
	r.decisions.mu.Unlock()
	slices.SortStableFunc(steps, func(a, b *Step) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.place, b.place), cmp.Compare(a.URN, b.URN))
	})
	out := make([]Decided, len(steps))
	for i, s := range steps {
		out[i] = Decided{StepInfo: &s.StepInfo, Wanted: s.New}
		if s.wanted != nil {
			out[i].Wanted = s.wanted
		}
		if s.taken {
			continue
		}
		out[i].Fate = NotReached
		if s.failed {
			out[i].Fate = Fell
		} else if cause, ok := r.world.failureOf(s.URN); ok {
			out[i].Fate, out[i].Blame = Skipped, cause
		}
	}
	return out
}
