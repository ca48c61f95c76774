package book

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

// results is what has happened so far: the states that finished steps produced, and what became of recorded ones. The
// workers of execute write it, each under the lock, after their step and before its answer (steps.md ORD-6).
type results struct {
	mu         sync.Mutex
	news       map[urn.URN]*state.Resource
	reads      map[urn.URN]*state.Resource
	successors map[*state.Resource]*state.Resource // recorded state, or one that this run has made -> its successor in place; nil: removed
	views      map[urn.URN][]*state.Resource       // every view there has been, by the resource that it belongs to
	copies     map[*state.Resource]*state.Resource // views that were recorded -> which copy of their resource they belong to
	open       map[urn.URN]*stages.Decision        // decisions whose resource may still register outputs
	// failed and skipped registrations under continue-on-error (steps.md 9.4).
	failed map[urn.URN]urn.URN // -> the resource whose failure is the cause
	// What the root stack registered, applied when the run ends.
	stack        *stages.Decision
	stackOutputs property.Map
	pending      map[*state.Resource]bool // recorded or made by this run, whose operations stay pending: see [take.Taker]
	unwritten    []*state.Resource        // made by this run; their record failed
}

func newResults() *results {
	return &results{
		news:       map[urn.URN]*state.Resource{},
		reads:      map[urn.URN]*state.Resource{},
		successors: map[*state.Resource]*state.Resource{},
		views:      map[urn.URN][]*state.Resource{},
		copies:     map[*state.Resource]*state.Resource{},
		open:       map[urn.URN]*stages.Decision{},
		failed:     map[urn.URN]urn.URN{},
		pending:    map[*state.Resource]bool{},
	}
}

// Current returns what became of a recorded state: itself, a marked copy, or nil when it is gone.
func (w *results) Current(r *state.Resource) *state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.follow(r)
}

func (w *results) follow(r *state.Resource) *state.Resource {
	for r != nil {
		next, changed := w.successors[r]
		if !changed {
			return r
		}
		r = next
	}
	return nil
}

// Apply records what a finished step did to recorded states.
func (w *results) Apply(c state.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range c.Remove {
		w.successors[r] = nil
	}
	for _, rep := range c.Replace {
		w.successors[rep.Old] = rep.New
		if of, isView := w.copies[rep.Old]; isView {
			w.copies[rep.New] = of
		}
	}
}

// Lookup finds a resource whose step is done (steps.md 10.5 "getResource").
func (w *results) Lookup(u urn.URN) (*state.Resource, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.news[u]; ok {
		return r, true
	}
	r, ok := w.reads[u]
	return r, ok
}

// failedDependency returns the failed or skipped resource that r depends on in any way but through its provider (steps.md 9.4).
func (w *results) failedDependency(refs func(func(urn.URN))) (urn.URN, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var cause urn.URN
	if len(w.failed) == 0 {
		return "", false
	}
	refs(func(u urn.URN) {
		if c, ok := w.failed[u]; ok && (cause == "" || c < cause) {
			cause = c
		}
	})
	return cause, cause != ""
}

// FailureOf returns the resource because of which a registration failed or was skipped: itself if it failed.
func (w *results) FailureOf(u urn.URN) (cause urn.URN, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cause, ok = w.failed[u]
	return cause, ok
}

// MarkFailed writes down that a registration failed, or was skipped because of another one. It reports false if that has been written down
// before: the first cause stands.
func (w *results) MarkFailed(u, cause urn.URN) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.failed[u]; ok {
		return false
	}
	w.failed[u] = cause
	return true
}

// HasFailed reports whether a registration failed or was skipped.
func (w *results) HasFailed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.failed) > 0
}

// OpenFor lets a resource that was not created register outputs, which are ignored.
func (w *results) OpenFor(s *stages.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[s.URN] = s
}

// AddView remembers a view that a refresh has found.
func (w *results) AddView(v *state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views[v.ViewOf] = append(w.views[v.ViewOf], v)
}

// Keep stores the state that a step produced, before the step's answer.
func (w *results) Keep(d *stages.Decision, final *state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if final.ViewOf != "" && !d.IsKept() {
		w.views[final.ViewOf] = append(w.views[final.ViewOf], final)
	}
	if d.IsRead() {
		w.reads[d.URN] = final
		return
	}
	if final.Delete {
		return // an old copy is not what its name means
	}
	if _, known := w.news[d.URN]; known && d.Kind == stages.Provisional {
		return // the registration was faster
	}
	w.news[d.URN] = final
	if d.Answers {
		w.open[d.URN] = d
	}
}

// KeepPending remembers that an operation stays pending: nobody knows what it did, so no other may begin on its resource.
func (w *results) KeepPending(r *state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[r] = true
}

// KeepUnwritten remembers an object that was made and whose record could not be written.
func (w *results) KeepUnwritten(r *state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unwritten = append(w.unwritten, r)
}

// Unwritten returns the objects that were made and whose record could not be written, by URN.
func (w *results) Unwritten() []*state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(w.unwritten), func(a, b *state.Resource) int { return cmp.Compare(a.URN, b.URN) })
}

func (w *results) StaysPending(r *state.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending[r]
}

// TakeOpen ends the time in which a resource may register outputs.
func (w *results) TakeOpen(u urn.URN) (*stages.Decision, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.open[u]
	delete(w.open, u)
	return s, ok
}

// Made returns the state that the step of a registration has produced, nil if there is none.
func (w *results) Made(u urn.URN) *state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.news[u]
}

// all returns the states that steps of registrations have produced, by URN.
func (w *results) all() map[urn.URN]*state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.news)
}

// SetOutputs gives the state of a URN other outputs and returns it before and after that.
func (w *results) SetOutputs(u urn.URN, outputs property.Map) (before, after *state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before = w.news[u]
	after = before.Clone()
	after.Outputs = outputs
	w.news[u] = after
	return before, after
}

// SetStackOutputs keeps the outputs that the root stack has registered until the run ends.
func (w *results) SetStackOutputs(s *stages.Decision, outputs property.Map) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stack, w.stackOutputs = s, outputs
}

// TakeStackOutputs returns them, with the decision about the root stack; nil if it has registered none.
func (w *results) TakeStackOutputs() (*stages.Decision, property.Map) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stack, w.stackOutputs
}
