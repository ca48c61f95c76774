package book

import (
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// outcome is a set of things decided about one URN (steps.md 0.2).
type outcome uint16

const (
	Created outcome = 1 << iota
	Same
	Updated
	Replaced
	Read
	Refreshed
	Imported
	Deleted
	SkippedCreate
	// PossiblyReplaced is of a preview, beside Replaced: the replacement depends on an unknown value.
	PossiblyReplaced
)

// outcomes is what build has decided. Only build writes while the pipeline runs, and the end phase afterwards; other
// stages read, hence the lock.
type outcomes struct {
	base  *Base
	mu    sync.RWMutex // guards what follows
	byURN map[urn.URN]outcome
	// closureDeletes are base states that a delete-before-replace of something else deletes (steps.md 0.2 "pendingDeletes"), with the
	// properties that made them go (steps.md 0.2 "dependentReplaceKeys").
	closureDeletes map[graph.ID]stages.Reason
	deletes        map[graph.ID]stages.Deletion // what does it
	tasks          graph.ID                     // how many IDs of tasks have been given out
	// uncreated are the resources that are not created because they are no targets, each with those among them that it refers
	// to: whoever wants one of them needs those too.
	uncreated map[urn.URN][]urn.URN
}

func newOutcomes() *outcomes {
	return &outcomes{
		byURN:          map[urn.URN]outcome{},
		closureDeletes: map[graph.ID]stages.Reason{},
		deletes:        map[graph.ID]stages.Deletion{},
		uncreated:      map[urn.URN][]urn.URN{},
	}
}

// NewTasks gives out n IDs of tasks and returns the first.
func (o *outcomes) NewTasks(n int) graph.ID {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.tasks
	o.tasks += graph.ID(n)
	return first
}

func (o *outcomes) Add(u urn.URN, what outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byURN[u] |= what
}

func (o *outcomes) Remove(u urn.URN, what outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byURN[u] &^= what
}

// Has reports whether any of the given things was decided about u.
func (o *outcomes) Has(u urn.URN, what outcome) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.byURN[u]&what != 0
}

// LeaveUncreated records that a resource is not created because it is no target.
func (o *outcomes) LeaveUncreated(s *state.Resource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byURN[s.URN] |= Same | SkippedCreate
	var needs []urn.URN
	for ref := range s.References() {
		if _, ok := o.uncreated[ref.URN]; ok {
			needs = append(needs, ref.URN)
		}
	}
	o.uncreated[s.URN] = needs
}

// MissingFor returns what would have to be created for a resource, and is not because it is no target: what it refers to,
// what that refers to, and so on, sorted.
func (o *outcomes) MissingFor(s *state.Resource) []urn.URN {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var todo []urn.URN
	for ref := range s.References() {
		todo = append(todo, ref.URN)
	}
	found := map[urn.URN]bool{}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if needs, ok := o.uncreated[u]; ok && !found[u] {
			found[u] = true
			todo = append(todo, needs...)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// DeleteByClosure records that a delete-before-replace of something else deletes a base state, in this run or an earlier one.
func (o *outcomes) DeleteByClosure(id graph.ID, why stages.Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byURN[o.base.Resources[id].URN] |= Deleted
	o.closureDeletes[id] = why
}

// SetDeletion says which task of this run deletes a condemned state.
func (o *outcomes) SetDeletion(id graph.ID, by stages.Deletion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deletes[id] = by
}

// IsDeletedByClosure reports whether a delete-before-replace of something else deletes a base state. A registration that continues the
// state makes it again. It is the state that counts and not its URN: another copy of that name may be deleted, and the
// registration may have another name.
func (o *outcomes) IsDeletedByClosure(r *state.Resource) bool {
	_, ok := o.ReasonOf(r)
	return ok
}

// ReasonOf returns why a delete-before-replace of something else deletes a base state, and false if none does.
func (o *outcomes) ReasonOf(r *state.Resource) (stages.Reason, bool) {
	id, ok := o.base.ID(r)
	if !ok {
		return stages.Reason{}, false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	why, ok := o.closureDeletes[id]
	return why, ok
}

// DeletionsOf returns what deletes it, if something in this run does.
func (o *outcomes) DeletionsOf(r *state.Resource) []stages.Deletion {
	id, ok := o.base.ID(r)
	if !ok {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if d, ok := o.deletes[id]; ok {
		return []stages.Deletion{d}
	}
	return nil
}
