package book

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// record is what the run has decided on and what has become of it. Several stages decide, and the workers of execute act; it
// is safe for concurrent use.
type record struct {
	mu        sync.Mutex
	decided   []*stages.Decision // in no particular order
	outcomes  map[*stages.Decision]stages.Outcome
	reported  []*stages.Decision // what is counted and listed, in no particular order
	uncertain bool               // the outcome of some operation is unknown (steps.md 9.3)
	lost      []urn.URN          // of resources with such an operation whose provider has not answered
	// users are, for recorded states that are kept although no registration goes on with them, the first by name of the
	// resources that they are kept for.
	users map[graph.ID]urn.URN // by base position
}

func NewRecord() *record {
	return &record{outcomes: map[*stages.Decision]stages.Outcome{}, users: map[graph.ID]urn.URN{}}
}

// Note writes decisions down, each once.
func (r *record) Note(ds ...*stages.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range ds {
		if _, noted := r.outcomes[d]; !noted {
			r.outcomes[d] = r.note(d)
		}
	}
}

// note adds a new decision and returns its first outcome.
func (r *record) note(d *stages.Decision) stages.Outcome {
	r.decided = append(r.decided, d)
	return stages.Outcome{Fate: stages.FateNotReached}
}

// Begin writes down that a decision is being taken. One that nobody has noted before is noted.
func (r *record) Begin(d *stages.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, noted := r.outcomes[d]
	if !noted {
		was = r.note(d)
	}
	r.become(d, was, stages.Outcome{Fate: stages.FateBegun})
}

// End writes down what has become of a decision.
func (r *record) End(d *stages.Decision, o stages.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.become(d, r.outcomes[d], o)
}

func (r *record) become(d *stages.Decision, was, now stages.Outcome) {
	if !was.Fate.MayBecome(now.Fate) {
		panic(fmt.Sprintf("%s of %s was %q and cannot become %q", d.Op, d.URN, was.Fate, now.Fate))
	}
	r.outcomes[d] = now
}

// Remake writes down that what a step has made has changed since.
func (r *record) Remake(d *stages.Decision, made *state.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcomes[d]
	o.Made = made
	r.outcomes[d] = o
}

// Report has a decision counted and listed among what the run has done.
func (r *record) Report(d *stages.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported = append(r.reported, d)
}

// SetUncertain remembers an operation that may have happened although it failed. lost says that its outcome is unknown.
func (r *record) SetUncertain(u urn.URN, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uncertain = true
	if lost {
		r.lost = append(r.lost, u)
	}
}

// Lost returns the resources with an operation whose outcome is unknown, sorted.
func (r *record) Lost() []urn.URN {
	r.mu.Lock()
	defer r.mu.Unlock()
	return urn.SortedSet(r.lost)
}

func (r *record) isUncertain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.uncertain
}

// allDecided returns all decisions, allReported those that are counted and listed.
func (r *record) allDecided() []*stages.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.decided)
}

func (r *record) allReported() []*stages.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reported)
}

// OutcomeOf returns what has become of a decision so far.
func (r *record) OutcomeOf(d *stages.Decision) stages.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes[d]
}

// stepsOf returns decisions with what has become of them so far.
func (r *record) stepsOf(ds []*stages.Decision) []stages.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := make([]stages.Step, len(ds))
	for i, d := range ds {
		steps[i] = stages.Step{Decision: d, Outcome: r.outcomes[d]}
	}
	return steps
}

// use writes down that a resource uses another one as it is recorded.
func (r *record) use(id graph.ID, by urn.URN) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.users[id]; !ok || by < first {
		r.users[id] = by
	}
}

// firstUser returns for what resource a recorded state is kept.
func (r *record) firstUser(id graph.ID) (urn.URN, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, ok := r.users[id]
	return u, ok
}

// Use writes down that a resource uses another one as it is recorded.
func (r *Book) Use(old *state.Resource, by urn.URN) {
	if id, ok := r.Base.ID(old); ok {
		r.Record.use(id, by)
	}
}

// final completes a list of decisions once the run is over, in their order. What a registration has made void is left out: a decision to keep a recorded state for the sake of what refers to it
// stands only if nothing goes on with that state, before or afterwards (steps.md 6.5). What is kept for several is kept for
// the first of them by name.
func (r *Book) final(ds []*stages.Decision) []stages.Step {
	out := make([]stages.Step, 0, len(ds))
	for _, s := range r.Record.stepsOf(ds) {
		if s.Kind == stages.Provisional {
			if _, claimed := r.Names.Claimant(s.Old); claimed {
				continue
			}
			if id, recorded := r.Base.ID(s.Old); recorded {
				if user, ok := r.Record.firstUser(id); ok {
					kept := *s.Decision
					kept.Reason = stages.Reason{Kind: stages.ReasonCarriedForward, Cause: user}
					s.Decision = &kept
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// Provisional returns what is kept for the sake of what refers to it and nothing goes on with. It is called once the run is
// over.
func (r *Book) Provisional() []stages.Step {
	all := slices.DeleteFunc(r.Record.allReported(), func(d *stages.Decision) bool { return d.Kind != stages.Provisional })
	steps := r.final(all)
	slices.SortStableFunc(steps, func(a, b stages.Step) int { return a.Rank.Compare(b.Rank) })
	return steps
}

// KeepUndecided writes down that a recorded state stays although the program has not declared it: something failed, so that this does not
// prove that it was removed. The reason names the failed resource that the state depends on, if there is one.
func (r *Book) KeepUndecided(all EndGraph, id graph.ID, now *state.Resource) {
	if _, skipped := r.Results.FailureOf(r.Names.NewNameOf(now.URN)); skipped {
		return // that says it
	}
	why := stages.Reason{Kind: stages.ReasonUndecided}
	for _, dep := range all.Graph.TransitiveDependencies([]graph.ID{id}, graph.Reach{}) {
		cause, failed := r.Results.FailureOf(r.Names.NewNameOf(all.Resources[dep].URN))
		if failed && (why.Cause == "" || cause < why.Cause) {
			why.Cause = cause
		}
	}
	r.NoteCarriedForward(now, why)
}

// Kept returns the names of the recorded states that were kept for that reason, in order; those of default providers are left out.
func (r *Book) Kept() []urn.URN {
	var out []urn.URN
	for _, d := range r.Record.allDecided() {
		if d.Reason.Kind == stages.ReasonUndecided && !d.Internal {
			out = append(out, d.URN)
		}
	}
	return urn.SortedSet(out)
}

// NoteCarriedForward writes down that a recorded state stays although nothing has declared it. Nothing is done about it.
func (r *Book) NoteCarriedForward(res *state.Resource, why stages.Reason) {
	d := &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq}, StepInfo: stages.StepInfo{
		Op: stages.OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Reason: why, Internal: res.URN.IsDefaultProvider(),
	}}
	r.Record.Note(d)
	r.Record.End(d, stages.Outcome{Fate: stages.FateDone, Made: res})
}

// Decided returns everything that the run has decided, in the order of the registrations' arrival, then what was decided
// about the rest. It is called once the run is over.
func (r *Book) Decided() []stages.Decided {
	steps := r.final(r.Record.allDecided())
	slices.SortStableFunc(steps, func(a, b stages.Step) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.URN, b.URN), a.Rank.Compare(b.Rank))
	})
	out, shown := make([]stages.Decided, len(steps)), make([]stages.StepInfo, len(steps))
	for i, s := range steps {
		shown[i] = s.Shown()
		out[i] = stages.Decided{StepInfo: &shown[i], Fate: s.Fate, Declared: s.Declared, Wanted: shown[i].New}
		if s.Fate == stages.FateFailed {
			out[i].Wanted = s.New
		}
		if s.Fate == stages.FateNotReached {
			if cause, ok := r.Results.FailureOf(s.URN); ok {
				out[i].Fate, out[i].FailedDependency = stages.FateSkipped, cause
			}
		}
	}
	return out
}
