package rooms

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Names is the room of names: which URNs are taken, and which recorded state each registration continues. Any stage may read it. Lookup writes
// it with [NamesWriter], and the names of views are added with [ViewNamesWriter] as providers publish them. It is safe for concurrent use.
type Names struct {
	base    *Base
	mu      sync.RWMutex // guards what follows
	seen    map[urn.URN]int
	twice   map[urn.URN]bool    // a second registration of the URN was refused
	aliased map[urn.URN]urn.URN // old URN -> the new URN that took it over
	aliasOf map[urn.URN]urn.URN // the reverse
	kept    map[urn.URN]bool    // old URNs that stay in use, because the registration that took them over is not part of the operation
	leaves  bool                // a registration leaves its recorded state as it is, because it refers to something that is not created
	led     map[urn.URN]int     // new URN -> the earlier registration that it depends on and whose closure deletes its recorded state
	claims  []int               // by base position: the registration that continues it, 0 if there is none
	views   map[urn.URN]urn.URN // view -> the resource that it belongs to
	// awaited are unclaimed recorded states that a walk has visited; epoch is increased when one of them is claimed.
	awaited map[graph.ID]bool
	epoch   int64
	// grown grows by registrations in order of arrival, so that a dependency is a member before its dependents are looked up (ORD-5).
	grown selection
	// readers are the registrations whose recorded states are read again.
	readers map[graph.ID]int
}

func newNames(b *Base, s stages.Targeting) *Names {
	return &Names{
		base:    b,
		seen:    map[urn.URN]int{},
		twice:   map[urn.URN]bool{},
		aliased: map[urn.URN]urn.URN{},
		aliasOf: map[urn.URN]urn.URN{},
		kept:    map[urn.URN]bool{},
		led:     map[urn.URN]int{},
		views:   map[urn.URN]urn.URN{},
		awaited: map[graph.ID]bool{},
		epoch:   1,
		grown:   newSelection(s),
		readers: map[graph.ID]int{},
	}
}

func (n *Names) open(b *Base) { n.base, n.claims = b, make([]int, len(b.Resources)) }

// NewNameOf returns the current URN of a recorded one.
func (n *Names) NewNameOf(u urn.URN) urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if v, ok := n.aliased[u]; ok {
		return v
	}
	return u
}

// FormerOf returns the recorded URN that a registration has taken over under the URN u; "" if there is none.
func (n *Names) FormerOf(u urn.URN) urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	former, _ := n.matched(u)
	return former
}

// IsKept reports whether a recorded URN stays in use although a registration has taken it over under another name, because that
// registration is not part of the operation.
func (n *Names) IsKept(u urn.URN) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.kept[u]
}

// LeavesRecorded reports whether a registration leaves its recorded state as it is, because it refers to something that is not created.
func (n *Names) LeavesRecorded() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.leaves
}

// Claimant returns the number of the registration that continues a recorded state.
func (n *Names) Claimant(r *state.Resource) (int, bool) {
	id, ok := n.base.ID(r)
	if !ok {
		return 0, false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.claims[id], n.claims[id] != 0
}

// awaitClaim is [Names.Claimant]. If a state has no claimant, its claim will increase the epoch.
func (n *Names) awaitClaim(id graph.ID) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims[id] == 0 {
		n.awaited[id] = true
	}
	return n.claims[id], n.claims[id] != 0
}

// claimEpoch returns the epoch, which changes with each awaited claim.
func (n *Names) claimEpoch() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.epoch
}

// IsSeen reports whether a registration has a URN.
func (n *Names) IsSeen(u urn.URN) bool {
	_, ok := n.SeenBy(u)
	return ok
}

// IsTwice reports whether a second registration of a URN was refused. In a preview its program got that URN, too.
func (n *Names) IsTwice(u urn.URN) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.twice[u]
}

// SeenBy returns the number of the registration that has a URN.
func (n *Names) SeenBy(u urn.URN) (seq int, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok = n.seen[u]
	return seq, ok
}

// SeenCalled returns the registered resources that a text names (see [urn.Called]), in ascending order.
func (n *Names) SeenCalled(text string) []urn.URN {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return urn.Called(slices.Sorted(maps.Keys(n.seen)), text)
}

// ReaderOf returns the registration whose recorded state is read again, if there is one.
func (n *Names) ReaderOf(r *state.Resource) (seq int, ok bool) {
	id, ok := n.base.ID(r)
	if !ok {
		return 0, false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	seq, ok = n.readers[id]
	return seq, ok
}

// ownerOf returns the resource that a URN is a view of, if it is a view.
func (n *Names) ownerOf(u urn.URN) (owner urn.URN, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.owner(u)
}

// owner is ownerOf while the names are locked.
func (n *Names) owner(u urn.URN) (owner urn.URN, ok bool) {
	if owner, ok = n.views[u]; ok {
		return owner, true
	}
	if old := n.base.Olds[u]; old != nil && old.ViewOf != "" {
		return old.ViewOf, true
	}
	return "", false
}

// matched returns the former URN under which a URN goes on. The names must be locked, unless lookup calls it, which alone writes them.
func (n *Names) matched(u urn.URN) (urn.URN, bool) {
	old, ok := n.aliasOf[u]
	return old, ok
}

// recordedFor returns the recorded state that a registration would continue; nil if there is none, or another registration continues it.
func (n *Names) recordedFor(who urn.Subject, aliases []urn.Alias) *state.Resource {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, name := range append([]urn.URN{who.URN()}, urn.ExpandAliases(who, aliases, n.matched)...) {
		old := n.base.Olds[name]
		if old == nil || old.ViewOf != "" {
			continue
		}
		if id, _ := n.base.ID(old); n.claims[id] == 0 {
			return old
		}
		return nil
	}
	return nil
}

// includes reports whether a recorded state is part of an operation, by the targets and excludes up to a registration.
func (n *Names) includes(s *state.Resource, upTo int) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.grown.includes(s, 0, upTo)
}

// entry has the changes of the names by one registration.
type entry struct {
	seq       int
	urn       urn.URN         // "" if the registration gets none
	alias     urn.URN         // the former URN that it takes over
	claimed   *state.Resource // the recorded state that it continues
	keepsName bool            // its former URN stays in use
	leaves    bool            // it leaves its recorded state as it is
	reread    *state.Resource // the recorded state that is read again
	led       int             // the registration whose closure deletes its recorded state; 0 if there is none
	leads     bool            // its dependents are part of the operation if it is, or left out if it is
}

// enter makes the changes of a registration, all at once. It makes none if the URN has become that of a view meanwhile, and returns its owner.
func (n *Names) enter(e entry) (owner urn.URN, isView bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.urn == "" {
		return "", false
	}
	if owner, isView = n.owner(e.urn); isView {
		return owner, true
	}
	n.seen[e.urn] = e.seq
	if e.alias != "" {
		n.aliased[e.alias], n.aliasOf[e.urn] = e.urn, e.alias
		if e.keepsName {
			n.kept[e.alias] = true
		}
	}
	if e.claimed != nil {
		id, _ := n.base.ID(e.claimed)
		n.claims[id] = e.seq
		if n.awaited[id] {
			delete(n.awaited, id)
			n.epoch++
		}
	}
	if id, ok := n.base.ID(e.reread); ok {
		n.readers[id] = e.seq
	}
	if e.led != 0 {
		n.led[e.urn] = e.led
	}
	if e.leads {
		n.grown.added[e.urn] = e.seq
	}
	n.leaves = n.leaves || e.leaves
	return "", false
}

// refuseTwice records that a second registration of a URN was refused.
func (n *Names) refuseTwice(u urn.URN) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.twice[u] = true
}

// ViewNamesWriter adds the names of views. The step executor has it, and uses it while providers publish views.
type ViewNamesWriter struct{ names *Names }

// Claim reserves the URN of a view. A view has a URN to itself.
func (w *ViewNamesWriter) Claim(u, owner urn.URN) error {
	n := w.names
	n.mu.Lock()
	defer n.mu.Unlock()
	other, known := n.views[u]
	_, seen := n.seen[u]
	old := n.base.Olds[u]
	switch {
	case known && other != owner:
		return fmt.Errorf("%s is a view of %s already; give the view another name", u, other)
	case seen, old != nil && old.ViewOf == "":
		return fmt.Errorf("%s is a resource of the program; give the view another name", u)
	}
	n.views[u] = owner
	return nil
}
