package stages

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Decided is one decision of a run, whether or not it was taken, once the run is over.
type Decided struct {
	*StepInfo
	Fate Fate
	// Blame is the failed resource because of which it was skipped.
	Blame urn.URN
	// Wanted is the state that was decided on. [StepInfo.New] may be another one when the step has failed half way.
	Wanted *state.Resource
}

// record is what the run has decided on and what has become of it. Several stages decide, and the crew of execute takes; it
// is safe for concurrent use.
type record struct {
	mu       sync.Mutex
	decided  []*Decision // in no particular order
	outcomes map[*Decision]Outcome
	reported []*Decision // what is counted and listed, in no particular order
	// users are, for recorded states that are kept although no registration goes on with them, the first by name of the
	// resources that they are kept for.
	users map[*state.Resource]urn.URN
}

func newRecord() *record {
	return &record{outcomes: map[*Decision]Outcome{}, users: map[*state.Resource]urn.URN{}}
}

// note writes decisions down, each once.
func (r *record) note(ds ...*Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range ds {
		if _, noted := r.outcomes[d]; !noted {
			r.outcomes[d] = Outcome{Fate: FateNotReached}
			r.decided = append(r.decided, d)
		}
	}
}

// begin writes down that a decision is being taken. One that nobody has noted before is noted.
func (r *record) begin(d *Decision) {
	r.note(d)
	r.end(d, Outcome{Fate: FateBegun})
}

// end writes down what has become of a decision.
func (r *record) end(d *Decision, o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.outcomes[d]
	if !was.Fate.MayBecome(o.Fate) {
		panic(fmt.Sprintf("%s of %s was %q and cannot become %q", d.Op, d.URN, was.Fate, o.Fate))
	}
	r.outcomes[d] = o
}

// remake writes down that what a step has made has changed since.
func (r *record) remake(d *Decision, made *state.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcomes[d]
	o.Made = made
	r.outcomes[d] = o
}

// report has a decision counted and listed among what the run has done.
func (r *record) report(d *Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported = append(r.reported, d)
}

// outcomeOf returns what has become of a decision so far.
func (r *record) outcomeOf(d *Decision) Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes[d]
}

// stepsOf returns decisions with what has become of them so far.
func (r *record) stepsOf(ds []*Decision) []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := make([]Step, len(ds))
	for i, d := range ds {
		steps[i] = Step{d, r.outcomes[d]}
	}
	return steps
}

// use writes down that a resource uses another one as it is recorded.
func (r *record) use(old *state.Resource, by urn.URN) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.users[old]; !ok || by < first {
		r.users[old] = by
	}
}

// firstUser returns for what resource a recorded state is kept.
func (r *record) firstUser(old *state.Resource) (urn.URN, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, ok := r.users[old]
	return u, ok
}

// final completes a list of decisions once the run is over, so that it does not depend on who came first, and sorts it by
// rank. What a registration has made void is left out: a decision to keep a recorded state for the sake of what refers to it
// stands only if nothing goes on with that state, before or afterwards (steps.md 6.5). What is kept for several is kept for
// the first of them by name.
func (r *Run) final(ds []*Decision) []Step {
	out := make([]Step, 0, len(ds))
	for _, s := range r.record.stepsOf(ds) {
		if s.Kind == Provisional {
			if _, claimed := r.names.claimant(s.Old); claimed {
				continue
			}
			if user, ok := r.record.firstUser(s.Old); ok {
				kept := *s.Decision
				kept.Reason = Reason{Kind: ReasonCarried, Cause: user}
				s.Decision = &kept
			}
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Step) int { return a.Rank.compare(b.Rank) })
	return out
}

func (a Rank) compare(b Rank) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Sub, b.Sub))
}

// noteStay writes down that a recorded state stays although nothing has declared it. Nothing is done about it.
func (r *Run) noteStay(res *state.Resource, why Reason) {
	d := &Decision{Rank: Rank{Seq: AfterAll}, StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Reason: why, Internal: res.URN.IsDefaultProvider(),
	}}
	r.record.note(d)
	r.record.end(d, Outcome{Fate: FateDone, Made: res})
}

// Decided returns everything that the run has decided, in the order of the registrations' arrival, then what was decided
// about the rest. It is called once the run is over.
func (r *Run) Decided() []Decided {
	steps := r.final(r.record.decided)
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.URN, b.URN))
	})
	out := make([]Decided, len(steps))
	for i, s := range steps {
		shown := s.Shown()
		out[i] = Decided{StepInfo: &shown, Fate: s.Fate, Wanted: shown.New}
		if s.Fate == FateFailed {
			out[i].Wanted = s.New
		}
		if s.Fate == FateNotReached {
			if cause, ok := r.world.failureOf(s.URN); ok {
				out[i].Fate, out[i].Blame = FateSkipped, cause
			}
		}
	}
	return out
}
