package rooms

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Results is the room of the states that steps have produced, and of the present states of recorded resources. Any stage may read
// it; [ResultsWriter] writes it, after a step and before its answer (steps.md ORD-6). It is safe for concurrent use.
type Results struct {
	mu         sync.Mutex
	news       map[urn.URN]*state.Resource // of registrations, and what is kept; a URN is here or in reads
	reads      map[urn.URN]*state.Resource
	successors map[*state.Resource]*state.Resource // recorded state, or one that this run has made -> its successor in place; nil: removed
	views      map[urn.URN][]*state.Resource       // every view so far, by the resource that it belongs to
	copies     map[*state.Resource]*state.Resource // views that were recorded -> which copy of their resource they belong to
	failed     map[urn.URN]urn.URN                 // failed and skipped registrations (steps.md 9.4) -> the resource whose failure is the cause
	pending    map[*state.Resource]bool            // recorded or made by this run, whose operations stay pending
	unwritten  []*state.Resource                   // made by this run; their record failed
}

// ResultsWriter writes the results of a run. Only the step executor has it.
type ResultsWriter struct{ results *Results }

func newResults() (*Results, *ResultsWriter) {
	r := &Results{
		news:       map[urn.URN]*state.Resource{},
		reads:      map[urn.URN]*state.Resource{},
		successors: map[*state.Resource]*state.Resource{},
		views:      map[urn.URN][]*state.Resource{},
		copies:     map[*state.Resource]*state.Resource{},
		failed:     map[urn.URN]urn.URN{},
		pending:    map[*state.Resource]bool{},
	}
	return r, &ResultsWriter{r}
}

// Current returns the present form of a recorded state: itself, a marked copy, or nil if it is gone.
func (r *Results) Current(res *state.Resource) *state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.follow(res)
}

func (r *Results) follow(res *state.Resource) *state.Resource {
	for res != nil {
		next, changed := r.successors[res]
		if !changed {
			return res
		}
		res = next
	}
	return nil
}

// Apply records the changes of recorded states by a finished step.
func (w *ResultsWriter) Apply(c state.Change) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, res := range c.Remove {
		r.successors[res] = nil
	}
	for _, rep := range c.Replace {
		r.successors[rep.Old] = rep.New
		if of, isView := r.copies[rep.Old]; isView {
			r.copies[rep.New] = of
		}
	}
}

// Lookup finds a resource whose step is done (steps.md 10.5 "getResource").
func (r *Results) Lookup(u urn.URN) (*state.Resource, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if res, ok := r.news[u]; ok {
		return res, true
	}
	res, ok := r.reads[u]
	return res, ok
}

// failureOf is [Failures.Of] for registrations.
func (r *Results) failureOf(u urn.URN) (cause urn.URN, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cause, ok = r.failed[u]
	return cause, ok
}

// MarkFailed records that a registration failed, or was skipped because of another one. The first cause stays.
func (w *ResultsWriter) MarkFailed(u, cause urn.URN) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.failed[u]; !known {
		r.failed[u] = cause
	}
}

// haveFailures reports whether a registration failed or was skipped.
func (r *Results) haveFailures() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failed) > 0
}

// AddView adds a view that a refresh has found.
func (w *ResultsWriter) AddView(v *state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views[v.ViewOf] = append(r.views[v.ViewOf], v)
}

// Keep stores the state that a step produced, before the step's answer. It reports whether the URN of the registration refers to
// that state from now on.
func (w *ResultsWriter) Keep(d *stages.Decision, final *state.Resource) bool {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	if final.ViewOf != "" && !d.IsKept() {
		r.views[final.ViewOf] = append(r.views[final.ViewOf], final)
	}
	if d.IsRead() {
		r.reads[d.URN] = final
		delete(r.news, d.URN) // what was kept provisionally
		return false
	}
	if final.Delete {
		return false // an old copy is not the resource of its name
	}
	if d.Kind == stages.Provisional && r.isKnown(d.URN) {
		return false // the registration or the read was faster
	}
	r.news[d.URN] = final
	return true
}

// isKnown reports whether a step has produced a state of that URN. r.mu must be held.
func (r *Results) isKnown(u urn.URN) bool {
	return r.news[u] != nil || r.reads[u] != nil
}

// KeepPending records that an operation stays pending: its outcome is unknown, so no other operation may begin on its resource.
func (w *ResultsWriter) KeepPending(res *state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[res] = true
}

// KeepUnwritten records an object that was made and whose record could not be written.
func (w *ResultsWriter) KeepUnwritten(res *state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unwritten = append(r.unwritten, res)
}

// Unwritten returns the objects that were made and whose record could not be written, by URN.
func (r *Results) Unwritten() []*state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(r.unwritten), func(a, b *state.Resource) int { return cmp.Compare(a.URN, b.URN) })
}

// StaysPending reports whether the operation on a resource stays pending.
func (r *Results) StaysPending(res *state.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending[res]
}

// Made returns the state that the step of a registration has produced, nil if there is none.
func (r *Results) Made(u urn.URN) *state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.news[u]
}

// all returns the states that steps of registrations have produced, by URN.
func (r *Results) all() map[urn.URN]*state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.news)
}

// ViewsOf returns the views that are recorded for a resource, those of its old copies among them.
func (r *Results) ViewsOf(u urn.URN) []*state.Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*state.Resource
	for _, v := range r.views[u] {
		if now := r.follow(v); now != nil {
			out = append(out, now)
		}
	}
	return out
}

// isOfAnother reports whether a view is one of another copy of its resource, and that one still exists.
func (r *Results) isOfAnother(v, owner *state.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.follow(r.copies[v])
	return of != nil && of != owner
}

// SetOutputs gives the state of a URN other outputs and returns it before and after that.
func (w *ResultsWriter) SetOutputs(u urn.URN, outputs property.Map) (before, after *state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.news[u]
	after = before.Clone()
	after.Outputs = outputs
	r.news[u] = after
	return before, after
}

// addViews adds the views of a base. Their states name their resource by URN alone. If it has several copies, a view belongs to the
// copy before and next to it. Any other choice would do as well, if only each view belongs to one copy.
func (w *ResultsWriter) addViews(base []*state.Resource) {
	r := w.results
	r.mu.Lock()
	defer r.mu.Unlock()
	type copies struct {
		of  urn.URN
		old bool
	}
	last := map[copies]*state.Resource{}
	for _, res := range base {
		if res.ViewOf != "" {
			r.views[res.ViewOf] = append(r.views[res.ViewOf], res)
			r.copies[res] = last[copies{res.ViewOf, res.Delete}]
		}
		last[copies{res.URN, res.Delete}] = res
	}
}
