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
	// users are, for recorded states that are kept although no registration goes on with them, the first by name of the
	// resources that they are kept for.
	users map[*state.Resource]urn.URN
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

// use writes down that a resource uses another one as it is recorded.
func (d *decisions) use(old *state.Resource, by urn.URN) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users == nil {
		d.users = map[*state.Resource]urn.URN{}
	}
	if first, ok := d.users[old]; !ok || by < first {
		d.users[old] = by
	}
}

// standing completes a list of steps once the run is over, so that it does not depend on who came first. What a
// registration has made void is left out: a step that keeps a recorded state for the sake of what refers to it stands only
// if nothing goes on with that state, before or afterwards (steps.md 6.5). What is kept for several is kept for the first of
// them by name.
func (r *Run) standing(steps []*Step) []*Step {
	r.decisions.mu.Lock()
	defer r.decisions.mu.Unlock()
	out := make([]*Step, 0, len(steps))
	for _, s := range steps {
		if _, claimed := r.names.claimant(s.Old); s.provisional && claimed {
			continue
		}
		if user, ok := r.decisions.users[s.Old]; ok && s.provisional {
			s.Reason = Reason{Kind: ReasonCarried, Cause: user}
		}
		out = append(out, s)
	}
	return out
}

// noteStay writes down that a recorded state stays although nothing has declared it. Nothing is done about it.
func (r *Run) noteStay(res *state.Resource, why Reason) {
	r.decisions.note(&Step{StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Reason: why, Internal: res.URN.IsDefaultProvider(),
	}, seq: afterAll, taken: true})
}

// Decided returns everything that the run has decided, in the order of the registrations' arrival, then what was decided
// about the rest. It is called once the run is over.
func (r *Run) Decided() []Decided {
	steps := r.standing(r.decisions.list)
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
