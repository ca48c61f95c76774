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

// names is what lookup knows: which URNs are taken, which recorded state each registration continues. Only lookup
// writes, and the names of views come from providers; other stages read, hence the lock.
type names struct {
	base    *Base
	mu      sync.RWMutex // guards what follows
	seen    map[urn.URN]int
	aliased map[urn.URN]urn.URN // old URN -> the new URN that took it over
	aliasOf map[urn.URN]urn.URN // the reverse
	kept    map[urn.URN]bool    // old URNs that go on, as what took them over is not part of the operation
	leaves  bool                // a registration leaves its recorded state as it is, because it refers to something that is not created
	led     map[urn.URN]int     // new URN -> the earlier registration that it depends on and whose closure deletes its recorded state
	claims  []int               // by base position: the registration that goes on with it, 0 if there is none
	views   map[urn.URN]urn.URN // view -> the resource that it belongs to; providers publish them while registrations go on
	// awaited are recorded states that somebody has found unclaimed; epoch goes up with each of them that is claimed.
	awaited map[graph.ID]bool
	epoch   int64
	grown   selection
	// readers are the registrations that have their recorded states read again.
	readers map[graph.ID]int
	next    int
}

func newNames(s stages.Targeting) *names {
	return &names{
		seen:    map[urn.URN]int{},
		aliased: map[urn.URN]urn.URN{},
		aliasOf: map[urn.URN]urn.URN{},
		kept:    map[urn.URN]bool{},
		led:     map[urn.URN]int{},
		views:   map[urn.URN]urn.URN{},
		awaited: map[graph.ID]bool{},
		epoch:   1,
		grown:   selection{targets: s.Targets.Clone(), excludes: s.Excludes.Clone()},
		readers: map[graph.ID]int{},
	}
}

// exclusively calls a function while nobody else reads or writes the names.
func (n *names) exclusively(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

// shared calls a function that reads the names, while nobody writes them.
func (n *names) shared(do func()) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	do()
}

func (n *names) open(b *Base) { n.base, n.claims = b, make([]int, len(b.Resources)) }

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

// IsKept reports whether a recorded URN goes on although a registration has taken it over under another name, which is not part of the
// operation.
func (n *names) IsKept(u urn.URN) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.kept[u]
}

// LeavesRecorded reports whether a registration leaves its recorded state as it is, because it refers to something that is not created.
func (n *names) LeavesRecorded() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.leaves
}

// Claimant returns the number of the registration that continues a recorded state.
func (n *names) Claimant(r *state.Resource) (int, bool) {
	id, ok := n.base.ID(r)
	if !ok {
		return 0, false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.claims[id], n.claims[id] != 0
}

// awaitClaim is [names.Claimant], and has the epoch go up when a state that nobody has claimed yet is claimed.
func (n *names) awaitClaim(id graph.ID) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims[id] == 0 {
		n.awaited[id] = true
	}
	return n.claims[id], n.claims[id] != 0
}

// ClaimEpoch says which awaited claims have been made: it changes with each.
func (n *names) ClaimEpoch() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.epoch
}

// claim says that a registration goes on with a recorded state. The names must be locked.
func (n *names) claim(r *state.Resource, seq int) {
	id, _ := n.base.ID(r)
	n.claims[id] = seq
	if n.awaited[id] {
		delete(n.awaited, id)
		n.epoch++
	}
}

func (n *names) IsSeen(u urn.URN) bool {
	_, ok := n.SeenBy(u)
	return ok
}

// SeenBy returns the number of the registration that has a URN.
func (n *names) SeenBy(u urn.URN) (seq int, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok = n.seen[u]
	return seq, ok
}

// SeenCalled returns the registered resources that a text names (see [urn.Called]), in ascending order.
func (n *names) SeenCalled(text string) []urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return urn.Called(slices.Sorted(maps.Keys(n.seen)), text)
}

// ReaderOf returns the registration that has a recorded state read again, if there is one.
func (n *names) ReaderOf(r *state.Resource) (seq int, ok bool) {
	id, ok := n.base.ID(r)
	if !ok {
		return 0, false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok = n.readers[id]
	return seq, ok
}

// read says that a registration has its recorded state read again. The names must be locked.
func (n *names) read(r *state.Resource, seq int) {
	if id, ok := n.base.ID(r); ok {
		n.readers[id] = seq
	}
}

// selection is how far targets and excludes have grown during a run. It belongs to the names: lookup alone writes it, in
// order of arrival, so that a dependent sees whether what it depends on is a member (ORD-5).
type selection struct {
	targets, excludes *urn.PatternSet
}
