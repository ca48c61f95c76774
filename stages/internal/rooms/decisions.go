package rooms

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// outcome is a set of decisions about one URN (steps.md 0.2).
type outcome uint16

const (
	Created outcome = 1 << iota
	Same
	Updated
	Replaced
	Read
	Refreshed
	Imported
	Deleted // also by the delete of an old copy
	SkippedCreate
	// DeletedFirst is set beside Deleted if a delete-before-replace deletes the resource itself.
	DeletedFirst
	// PossiblyReplaced is set in a preview, beside Replaced, if the replacement depends on an unknown value.
	PossiblyReplaced
)

// Generated are the decisions that count as a step of the URN (steps.md 0.2: generated). A dependent with one of them cannot depend on
// what a closure deletes, because its program waited for the dependencies first (3.11: impossible).
const Generated = Created | Same | Updated | Deleted | Replaced | Read

// Decisions is the room of decisions about recorded and declared resources. Any stage may read it; [DecisionsWriter] writes it. It is safe for
// concurrent use.
type Decisions struct {
	base  *Base
	mode  stages.Mode
	mu    sync.RWMutex // guards what follows
	byURN map[urn.URN]outcome
	// closureDeletes are base states that a delete-before-replace of something else deletes (steps.md 0.2 "pendingDeletes"), with
	// the properties that require it (steps.md 0.2 "dependentReplaceKeys").
	closureDeletes map[graph.ID]ClosureDelete
	deletes        map[graph.ID]stages.Deletion // the tasks that delete them
	// uncreated are the resources that are not created because they are no targets, each with the others among them that it refers
	// to and that it needs.
	uncreated map[urn.URN][]urn.URN
	noted     []*stages.Decision // the decided steps, in no particular order
	carried   []*stages.Decision // of recorded states that stay although nothing has declared them: they have no steps
	declared  []*stages.Decision // of registrations whose states a destroy deletes at its end, in no particular order
	// users has, for recorded states that are kept although no registration continues them, the first by name of the resources for
	// which they are kept.
	users map[graph.ID]urn.URN
}

// DecisionsWriter writes the decisions of a run. Build has it while registrations are decided, and the end phase after that.
type DecisionsWriter struct{ decisions *Decisions }

func newDecisions(m stages.Mode) (*Decisions, *DecisionsWriter) {
	d := &Decisions{
		base:           &Base{},
		mode:           m,
		users:          map[graph.ID]urn.URN{},
		byURN:          map[urn.URN]outcome{},
		closureDeletes: map[graph.ID]ClosureDelete{},
		deletes:        map[graph.ID]stages.Deletion{},
		uncreated:      map[urn.URN][]urn.URN{},
	}
	return d, &DecisionsWriter{d}
}

// Add adds decisions about a URN.
func (w *DecisionsWriter) Add(u urn.URN, what outcome) {
	w.decisions.mu.Lock()
	defer w.decisions.mu.Unlock()
	w.decisions.byURN[u] |= what
}

// Remove takes back decisions about a URN.
func (w *DecisionsWriter) Remove(u urn.URN, what outcome) {
	w.decisions.mu.Lock()
	defer w.decisions.mu.Unlock()
	w.decisions.byURN[u] &^= what
}

// LeaveUncreated records that a resource is not created because it is no target.
func (w *DecisionsWriter) LeaveUncreated(s *state.Resource) {
	d := w.decisions
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byURN[s.URN] |= Same | SkippedCreate
	var needs []urn.URN
	for ref := range s.References() {
		if _, ok := d.uncreated[ref.URN]; ok {
			needs = append(needs, ref.URN)
		}
	}
	d.uncreated[s.URN] = needs
}

// ClosureDelete is the delete of a base state that the delete-before-replace of Root requires.
type ClosureDelete struct {
	Root stages.Precedence
	Why  stages.Reason
}

// compare orders the replacements that require the delete of one state: certain ones come first, then the order is that of the program.
func (c ClosureDelete) compare(other ClosureDelete) int {
	certain, otherCertain := c.Why.Possible == nil, other.Why.Possible == nil
	switch {
	case certain && !otherCertain:
		return -1
	case otherCertain && !certain:
		return 1
	}
	return c.Root.Compare(other.Root)
}

// DeleteByClosure records that a delete-before-replace of something else deletes a base state, in this run or an earlier one. If several
// do, the first of them in [ClosureDelete.compare] is the reason, whichever was decided first.
func (w *DecisionsWriter) DeleteByClosure(id graph.ID, by ClosureDelete) {
	d := w.decisions
	d.mu.Lock()
	defer d.mu.Unlock()
	res := d.base.Resources[id]
	u := res.URN
	d.byURN[u] |= Deleted
	if !res.Delete || res == d.base.StandIn(u) {
		d.byURN[u] |= DeletedFirst
	}
	if first, known := d.closureDeletes[id]; known && first.compare(by) <= 0 {
		by = first
	}
	d.closureDeletes[id] = by
	d.byURN[u] &^= PossiblyReplaced
	if by.Why.Possible != nil {
		d.byURN[u] |= PossiblyReplaced
	}
}

// SetDeletion records the task of this run that deletes a state of a closure.
func (w *DecisionsWriter) SetDeletion(id graph.ID, by stages.Deletion) {
	w.decisions.mu.Lock()
	defer w.decisions.mu.Unlock()
	w.decisions.deletes[id] = by
}

// Note adds decided steps.
func (w *DecisionsWriter) Note(steps ...*stages.Decision) {
	d := w.decisions
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = append(d.noted, steps...)
}

// NoteDeclared is [DecisionsWriter.Note] for the steps of a registration or a read. A destroy deletes at its end every state that they produce.
func (w *DecisionsWriter) NoteDeclared(steps ...*stages.Decision) {
	w.Note(steps...)
	d := w.decisions
	if d.mode != stages.ModeDestroy {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range steps {
		if s.New != nil && s.Kind != stages.Uncreated && s.Op != stages.OpReplace {
			d.declared = append(d.declared, s)
		}
	}
}

// CarryForward records that a recorded state stays although nothing has declared it.
func (w *DecisionsWriter) CarryForward(res *state.Resource, why stages.Reason) {
	d := w.decisions
	d.mu.Lock()
	defer d.mu.Unlock()
	d.carried = append(d.carried, &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq}, StepInfo: stages.StepInfo{
		Op: stages.OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Reason: why, Internal: res.URN.IsDefaultProvider(),
	}})
}

// Use records that a resource uses another one in its recorded form.
func (w *DecisionsWriter) Use(old *state.Resource, by urn.URN) {
	d := w.decisions
	id, ok := d.base.ID(old)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if first, used := d.users[id]; !used || by < first {
		d.users[id] = by
	}
}

// Declares reports whether a destroy has states of its program to delete.
func (d *Decisions) Declares() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.declared) > 0
}

// allNoted returns the noted steps, in no particular order.
func (d *Decisions) allNoted() []*stages.Decision {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.noted)
}

// allCarried returns the decisions about states that were carried forward, in no particular order.
func (d *Decisions) allCarried() []*stages.Decision {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.carried)
}

// allDeclared returns the steps whose states a destroy deletes at its end, in no particular order.
func (d *Decisions) allDeclared() []*stages.Decision {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.declared)
}

// firstUser returns the resource for which a recorded state is kept.
func (d *Decisions) firstUser(r *state.Resource) (urn.URN, bool) {
	id, ok := d.base.ID(r)
	if !ok {
		return "", false
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	u, ok := d.users[id]
	return u, ok
}

// Has reports whether any of the given decisions was made about u.
func (d *Decisions) Has(u urn.URN, what outcome) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byURN[u]&what != 0
}

// MissingFor returns the resources that would have to be created for a resource, and are not because they are no targets: its
// references, their references, and so on, sorted.
func (d *Decisions) MissingFor(s *state.Resource) []urn.URN {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var todo []urn.URN
	for ref := range s.References() {
		todo = append(todo, ref.URN)
	}
	found := map[urn.URN]bool{}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if needs, ok := d.uncreated[u]; ok && !found[u] {
			found[u] = true
			todo = append(todo, needs...)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// IsDeletedByClosure reports whether a delete-before-replace of something else deletes a base state. A registration that continues
// the state makes it again. The state counts and not its URN: another copy of that name may be deleted, and the registration may
// have another name.
func (d *Decisions) IsDeletedByClosure(r *state.Resource) bool {
	_, ok := d.ReasonOf(r)
	return ok
}

// ReasonOf returns why a delete-before-replace of something else deletes a base state, and false if none does.
func (d *Decisions) ReasonOf(r *state.Resource) (stages.Reason, bool) {
	id, ok := d.base.ID(r)
	if !ok {
		return stages.Reason{}, false
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	by, ok := d.closureDeletes[id]
	return by.Why, ok
}

// ClosureOf returns the root of the closure that deletes a base state, "" if none does.
func (d *Decisions) ClosureOf(id graph.ID) urn.URN {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.closureDeletes[id].Root.URN
}

// DeletionsOf returns the deletions of a base state in this run, if there are any.
func (d *Decisions) DeletionsOf(r *state.Resource) []stages.Deletion {
	id, ok := d.base.ID(r)
	if !ok {
		return nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if by, ok := d.deletes[id]; ok {
		return []stages.Deletion{by}
	}
	return nil
}

// TaskIDs gives out the IDs of the tasks of a run. It is safe for concurrent use.
type TaskIDs struct{ next atomic.Int64 }

// New gives out n consecutive IDs and returns the first.
func (t *TaskIDs) New(n int) graph.ID { return graph.ID(t.next.Add(int64(n)) - int64(n)) }
