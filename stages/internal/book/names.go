package book

import (
	"sync"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// names is what lookup knows: which URNs are taken, which recorded state each registration continues. Only lookup
// writes, and the names of views come from providers; other stages read, hence the lock.
type names struct {
	mu      sync.RWMutex
	seen    map[urn.URN]int
	aliased map[urn.URN]urn.URN // old URN -> the new URN that took it over
	aliasOf map[urn.URN]urn.URN // the reverse
	kept    map[urn.URN]bool    // old URNs that go on, as what took them over is not part of the operation
	claims  map[*state.Resource]int
	views   map[urn.URN]urn.URN // view -> the resource that it belongs to; providers publish them while registrations go on
	// awaited are recorded states that somebody has found unclaimed; epoch goes up with each of them that is claimed.
	awaited map[*state.Resource]bool
	epoch   int
	grown   selection
	// readers are the registrations that have their recorded states read again.
	readers map[*state.Resource]int
	next    int
}

func newNames() *names {
	return &names{
		seen:    map[urn.URN]int{},
		aliased: map[urn.URN]urn.URN{},
		aliasOf: map[urn.URN]urn.URN{},
		kept:    map[urn.URN]bool{},
		claims:  map[*state.Resource]int{},
		views:   map[urn.URN]urn.URN{},
		awaited: map[*state.Resource]bool{},
		epoch:   1,

		readers: map[*state.Resource]int{},
	}
}

// matched returns the former URN under which a URN goes on. The names must be locked.
func (n *names) matched(u urn.URN) (urn.URN, bool) {
	old, ok := n.aliasOf[u]
	return old, ok
}

// NewNameOf returns the URN under which a recorded URN goes on.
func (n *names) NewNameOf(u urn.URN) urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if v, ok := n.aliased[u]; ok {
		return v
	}
	return u
}

// Claimant returns the number of the registration that continues a recorded state.
func (n *names) Claimant(r *state.Resource) (int, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok := n.claims[r]
	return seq, ok
}

// awaitClaim is claimant, and has the epoch go up when a state that nobody has claimed yet is claimed.
func (n *names) awaitClaim(r *state.Resource) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	seq, ok := n.claims[r]
	if !ok {
		n.awaited[r] = true
	}
	return seq, ok
}

// ClaimEpoch says which awaited claims have been made: it changes with each.
func (n *names) ClaimEpoch() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.epoch
}

// claim says that a registration goes on with a recorded state. The names must be locked.
func (n *names) claim(r *state.Resource, seq int) {
	n.claims[r] = seq
	if n.awaited[r] {
		delete(n.awaited, r)
		n.epoch++
	}
}

func (n *names) IsSeen(u urn.URN) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	_, ok := n.seen[u]
	return ok
}

// ReaderOf returns the registration that has a recorded state read again, if there is one.
func (n *names) ReaderOf(r *state.Resource) (seq int, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok = n.readers[r]
	return seq, ok
}

// selection is how far targets and excludes have grown during a run. It belongs to the names: lookup alone writes it, in
// order of arrival, so that a dependent sees whether what it depends on is a member (ORD-5).
type selection struct {
	targets, excludes *urn.PatternSet
}
