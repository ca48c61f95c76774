package stages

import (
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// outcome is a set of things decided about one URN (steps.md 0.2).
type outcome uint16

const (
	created outcome = 1 << iota
	same
	updated
	replaced
	read
	refreshed
	imported
	deleted
	skippedCreate
)

// outcomes is what build has decided. Only build writes while the pipeline runs, and the end phase afterwards; other
// stages read, hence the lock.
type outcomes struct {
	mu   sync.RWMutex
	byID map[urn.URN]outcome
	// gone are base states that a delete-before-replace of something else deletes (steps.md 0.2 "pendingDeletes"), with the
	// properties that made them go (steps.md 0.2 "dependentReplaceKeys").
	gone    map[*state.Resource]Reason
	deletes map[*state.Resource]deletion // what does it
	tasks   graph.ID                     // how many IDs of tasks have been given out
	// uncreated are the resources that are not created because they are no targets, each with those among them that it refers
	// to: whoever wants one of them needs those too.
	uncreated map[urn.URN][]urn.URN
}

func newOutcomes() *outcomes {
	return &outcomes{
		byID:    map[urn.URN]outcome{},
		gone:    map[*state.Resource]Reason{},
		deletes: map[*state.Resource]deletion{}, uncreated: map[urn.URN][]urn.URN{},
	}
}

// newTasks gives out n IDs of tasks and returns the first.
func (o *outcomes) newTasks(n int) graph.ID {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.tasks
	o.tasks += graph.ID(n)
	return first
}

func (o *outcomes) add(u urn.URN, what outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[u] |= what
}

func (o *outcomes) remove(u urn.URN, what outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[u] &^= what
}

// has tells whether any of the given things was decided about u.
func (o *outcomes) has(u urn.URN, what outcome) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.byID[u]&what != 0
}

// leaveUncreated records that a resource is not created because it is no target.
func (o *outcomes) leaveUncreated(s *state.Resource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[s.URN] |= same | skippedCreate
	var needs []urn.URN
	references(s, func(u urn.URN, _ graph.Kind) {
		if _, ok := o.uncreated[u]; ok {
			needs = append(needs, u)
		}
	})
	o.uncreated[s.URN] = needs
}

// missingFor returns what would have to be created for a resource, and is not because it is no target: what it refers to,
// what that refers to, and so on, sorted.
func (o *outcomes) missingFor(s *state.Resource) []urn.URN {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var todo []urn.URN
	references(s, func(u urn.URN, _ graph.Kind) { todo = append(todo, u) })
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

// deletion is the task by which a delete-before-replace deletes a recorded state.
type deletion struct {
	task graph.ID
	urn  urn.URN
	root int // number of the registration that the delete belongs to
}

// condemn records that a delete-before-replace of something else deletes a base state, in this run or an earlier one.
func (o *outcomes) condemn(r *state.Resource, why Reason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[r.URN] |= deleted
	o.gone[r] = why
}

// setDeletion says which task of this run deletes a condemned state.
func (o *outcomes) setDeletion(r *state.Resource, by deletion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deletes[r] = by
}

// isGone tells whether a delete-before-replace of something else deletes a base state. A registration that continues the
// state makes it again. It is the state that counts and not its URN: another copy of that name may be deleted, and the
// registration may have another name.
func (o *outcomes) isGone(r *state.Resource) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	_, ok := o.gone[r]
	return ok
}

func (o *outcomes) reasonFor(r *state.Resource) Reason {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.gone[r]
}

// deletionsOf returns what deletes it, if something in this run does.
func (o *outcomes) deletionsOf(r *state.Resource) []deletion {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if d, ok := o.deletes[r]; ok {
		return []deletion{d}
	}
	return nil
}
