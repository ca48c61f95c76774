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
	// gone are base states that a delete-before-replace of something else deletes (steps.md 0.2 "pendingDeletes"), with the
	// step that does it, whose reason has the properties that made them go (steps.md 0.2 "dependentReplaceKeys").
	gone    map[*state.Resource]*Step
	decided map[int]bool
}

func newOutcomes() *outcomes {
	return &outcomes{
		byID:    map[urn.URN]outcome{},
		gone:    map[*state.Resource]*Step{},
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
func (o *outcomes) condemn(r *state.Resource, by *Step) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[r.URN] |= deleted
	o.gone[r] = by
}

// deleteOf returns the step by which a delete-before-replace of something else deletes a base state, nil if none does.
// It is the state that counts and not its URN: another copy of that name may be deleted, and the registration that goes on
// with the state may have another name.
func (o *outcomes) deleteOf(r *state.Resource) *Step {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.gone[r]
}

// isGone tells whether there is such a step. A registration that continues the state makes it again.
func (o *outcomes) isGone(r *state.Resource) bool { return o.deleteOf(r) != nil }

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
