package stages

import (
	"sync"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// names is what lookup knows: which URNs are taken, which recorded state each registration continues. Only lookup
// writes; other stages read, hence the lock.
type names struct {
	mu      sync.RWMutex
	seen    map[urn.URN]int
	aliased map[urn.URN]urn.URN // old URN -> the new URN that took it over
	aliasOf map[urn.URN]urn.URN // the reverse
	claims  map[*state.Resource]int
	grown   selection
	next    int
}

func newNames() *names {
	return &names{
		seen:    map[urn.URN]int{},
		aliased: map[urn.URN]urn.URN{},
		aliasOf: map[urn.URN]urn.URN{},
		claims:  map[*state.Resource]int{},
	}
}

// newNameOf returns the URN under which a recorded URN goes on.
func (n *names) newNameOf(u urn.URN) urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if v, ok := n.aliased[u]; ok {
		return v
	}
	return u
}

// claimant returns the number of the registration that continues a recorded state.
func (n *names) claimant(r *state.Resource) (int, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok := n.claims[r]
	return seq, ok
}

func (n *names) isSeen(u urn.URN) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	_, ok := n.seen[u]
	return ok
}
