package stages

import (
	"sync"

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
	// gone are base states that a delete-before-replace has deleted (steps.md 0.2 "pendingDeletes").
	gone map[*state.Resource]bool
	// because says which properties made a dependent go, and which root (steps.md 0.2 "dependentReplaceKeys").
	because map[urn.URN]Reason
	deletes map[urn.URN]*Step // the steps that delete what is gone
	decided map[int]bool
}

func newOutcomes() *outcomes {
	return &outcomes{
		byID:    map[urn.URN]outcome{},
		gone:    map[*state.Resource]bool{},
		because: map[urn.URN]Reason{},
		deletes: map[urn.URN]*Step{},
		decided: map[int]bool{},
	}
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

// condemn records that a delete-before-replace deletes a base state, and by which step.
func (o *outcomes) condemn(r *state.Resource, why Reason, by *Step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[r.URN] |= deleted
	o.gone[r] = true
	o.because[r.URN] = why
	o.deletes[r.URN] = by
}

// deleteOf returns the step by which a delete-before-replace deletes a URN, nil if none does.
func (o *outcomes) deleteOf(u urn.URN) *Step {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.deletes[u]
}

func (o *outcomes) isGone(r *state.Resource) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.gone[r]
}

func (o *outcomes) reasonFor(u urn.URN) Reason {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.because[u]
}

func (o *outcomes) decide(seq int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.decided[seq] = true
}

func (o *outcomes) isDecided(seq int) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.decided[seq]
}
