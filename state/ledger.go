package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/urn"
)

// ErrNotRecorded is wrapped by the errors of a [Ledger] for a change to a resource that it does not have: a mistake of
// the caller, which would otherwise lose a resource.
var ErrNotRecorded = errors.New("not in the record of this run")

// LedgerOptions define the manifest of the snapshots of a [Ledger].
type LedgerOptions struct {
	// Version names the writing tool in the manifest, for example "sluice/0.1.0".
	Version string
	// Now returns the time of the manifest; nil means [time.Now].
	Now func() time.Time
	// SecretsProvider is the one configured for this run. nil keeps that of the base.
	SecretsProvider *SecretsProvider
}

// Ledger merges the changes of a run into its base ([state.md 3.1] to 3.5). Recording a change costs its length; making a
// snapshot costs a pass over resources and references. Entries are distinguished by pointer. Its methods may be called
// from many goroutines.
//
// The snapshot depends on the set of changes recorded, not on the order in which independent ones came in.
//
// [state.md 3.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#31-the-ledger
type Ledger struct {
	options LedgerOptions

	mu    sync.Mutex // guards the fields below
	base  *Snapshot
	slots []slot
	index map[*Resource]int // into slots
	ranks map[urn.URN]int
	open  map[*Resource]PendingType
	// carried are the pending operations of the base that are not resolved (state.md 3.4). Each update or delete has the base state
	// of its object.
	carried    map[*Resource]*Resource
	refreshed  bool
	extensions map[string]json.RawMessage
	snippets   []json.RawMessage
	rewritten  map[*Resource]*Resource // the last written form of an entry, if it differs from the entry
}

// slot is an entry of the record; resource is nil after its removal.
type slot struct {
	resource *Resource
	rank     int
}

// NewLedger begins a record on top of base, which is nil for a stack that has no state. base is not changed.
func NewLedger(base *Snapshot, options LedgerOptions) *Ledger {
	if options.Now == nil {
		options.Now = time.Now
	}
	l := &Ledger{options: options, open: map[*Resource]PendingType{}, extensions: map[string]json.RawMessage{}}
	l.reset(base)
	return l
}

func (l *Ledger) reset(base *Snapshot) {
	if base == nil {
		base = &Snapshot{}
	}
	l.base, l.refreshed, l.snippets = base, false, base.Snippets
	n := len(base.Resources)
	l.slots = make([]slot, n)
	l.index = make(map[*Resource]int, n)
	l.ranks = make(map[urn.URN]int, n)
	l.rewritten = map[*Resource]*Resource{}
	l.carried = map[*Resource]*Resource{}
	copies := map[urn.URN]bool{} // URNs whose rank is that of an old copy
	for i, r := range base.Resources {
		l.slots[i], l.index[r] = slot{r, i}, i
		if !has(l.ranks, r.URN) || copies[r.URN] && !r.Delete {
			l.ranks[r.URN] = i
			copies[r.URN] = r.Delete
		}
	}
	for _, p := range base.Pending {
		switch {
		case p.Type == Creating:
			l.carried[p.Resource] = nil
		case p.IsInDoubt():
			l.carried[p.Resource] = p.StateIn(base.Resources)
		}
	}
}

// Begin records that an operation is about to start.
func (l *Ledger) Begin(op Pending) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if op.Resource == nil || op.Type == "" {
		return fmt.Errorf("begin of %q: an operation needs a type and a resource", op.Type)
	}
	if _, ok := l.open[op.Resource]; ok {
		return fmt.Errorf("begin of %s %s: it has begun already", op.Type, op.Resource.URN)
	}
	l.open[op.Resource] = op.Type
	l.reuseCiphertexts(op.Resource)
	return nil
}

// ReuseCiphertexts lets the secrets of r that are also in its base state keep their ciphertexts. Begin and End do the
// same; it is for recorders that encode earlier.
func (l *Ledger) ReuseCiphertexts(r *Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reuseCiphertexts(r)
}

// reuseCiphertexts lets the secrets of r that are also in its base state keep their ciphertexts (state.md 5.6).
func (l *Ledger) reuseCiphertexts(r *Resource) {
	i, ok := l.ranks[r.URN]
	if !ok || i >= len(l.base.Resources) || l.base.Resources[i].URN != r.URN {
		return
	}
	reuseCiphertextsOf(r, l.base.Resources[i])
}

func reuseCiphertextsOf(r, old *Resource) {
	if r == old {
		return
	}
	r.Inputs.ReuseCiphertexts(old.Inputs)
	r.Outputs.ReuseCiphertexts(old.Outputs)
}

// End records a finished step. Either all of the change is applied or, with an error that wraps [ErrNotRecorded], nothing.
// Change.Begun may also be the resource of a pending operation of the base, which the change then resolves. An update or a
// delete is also resolved by a later operation on its object that has succeeded, and by a refresh that has read it.
func (l *Ledger) End(c Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(c); err != nil {
		return err
	}
	l.resolveCarried(c)
	if c.Begun != nil {
		delete(l.open, c.Begun)
		delete(l.carried, c.Begun)
	}
	for _, r := range c.Remove {
		l.slots[l.index[r]].resource = nil
		l.remove(r)
	}
	for _, p := range c.Replace {
		i := l.index[p.Old]
		l.remove(p.Old)
		reuseCiphertextsOf(p.New, p.Old)
		l.slots[i].resource, l.index[p.New] = p.New, i
	}
	if c.Add != nil {
		l.reuseCiphertexts(c.Add)
		for _, old := range c.Remove { // r may have been renamed
			reuseCiphertextsOf(c.Add, old)
		}
		l.index[c.Add] = len(l.slots)
		l.slots = append(l.slots, slot{c.Add, l.rank(c.Add)})
		if c.Extension != nil {
			l.extensions[c.Add.ExtensionRef] = c.Extension
		}
	}
	l.refreshed = l.refreshed || c.Refresh
	l.snippets = WithoutSnippets(l.snippets, c.DropSnippets)
	return nil
}

// resolveCarried resolves the pending updates and deletes of the base whose object a change updates, deletes or reads again. A change
// that only ends an operation is its failure, and changes nothing in the record.
func (l *Ledger) resolveCarried(c Change) {
	if len(l.carried) == 0 { // as in nearly all runs
		return
	}
	if t := l.open[c.Begun]; t != Updating && t != Deleting && !c.Refresh {
		return
	}
	known := slices.Clone(c.Remove)
	for _, p := range c.Replace {
		known = append(known, p.Old)
	}
	for op, about := range l.carried {
		if about != nil && slices.ContainsFunc(known, func(k *Resource) bool { return k.URN == about.URN && k.ID == about.ID }) {
			delete(l.carried, op)
		}
	}
}

func (l *Ledger) remove(r *Resource) {
	delete(l.index, r)
	delete(l.rewritten, r)
}

// Holds reports whether r is an entry of the record, or the resource of an operation that has not ended.
func (l *Ledger) Holds(r *Resource) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return has(l.index, r) || has(l.open, r) || has(l.carried, r)
}

func (l *Ledger) check(c Change) error {
	known := func(what string, r *Resource) error {
		if r == nil {
			return fmt.Errorf("%s of no resource: %w", what, ErrNotRecorded)
		}
		if !has(l.index, r) {
			return fmt.Errorf("%s of %s: %w", what, r.URN, ErrNotRecorded)
		}
		return nil
	}
	if c.Begun != nil && !has(l.open, c.Begun) && !has(l.carried, c.Begun) {
		return fmt.Errorf("end of an operation on %s that has not begun: %w", c.Begun.URN, ErrNotRecorded)
	}
	for i, r := range c.Remove {
		if err := known("removal", r); err != nil {
			return err
		}
		if slices.Contains(c.Remove[:i], r) {
			return fmt.Errorf("second removal of %s in one change: %w", r.URN, ErrNotRecorded)
		}
	}
	for _, p := range c.Replace {
		if err := known("replacement", p.Old); err != nil {
			return err
		}
		if p.New == nil || slices.Contains(c.Remove, p.Old) {
			return fmt.Errorf("replacement of %s by nothing, or of what the same change removes: %w", p.Old.URN, ErrNotRecorded)
		}
	}
	if c.Add != nil && has(l.index, c.Add) && !slices.Contains(c.Remove, c.Add) {
		return fmt.Errorf("addition of %s, which is in the record already", c.Add.URN)
	}
	return nil
}

// rank is the position in the base of the entry that r continues, under its URN or an alias.
func (l *Ledger) rank(r *Resource) int {
	if i, ok := l.ranks[r.URN]; ok {
		return i
	}
	for _, a := range r.Aliases {
		if i, ok := l.ranks[a]; ok {
			return i
		}
	}
	return notInBase
}

// Rebase replaces the base and drops the changes. Operations that have begun stay pending.
func (l *Ledger) Rebase(base *Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset(base)
}

// Snapshot returns the record at this moment: entries in canonical order with aliases resolved, pending operations by
// URN and type. It returns an [*AliasConflictError] if two entries claim one old URN. [Verify] checks whether the
// snapshot is valid.
func (l *Ledger) Snapshot() (*Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	places := make([]place, 0, len(l.slots))
	live := make([]*Resource, 0, len(l.slots))
	for _, s := range l.slots {
		if s.resource != nil {
			places = append(places, place(s))
			live = append(live, s.resource)
		}
	}
	names, err := collectRenames(live)
	if err != nil {
		return nil, err
	}
	l.rewrite(places, names)
	resources, _ := canonical(places) // Verify reports a cycle, as a reference to a later resource
	out := &Snapshot{
		Manifest:        Manifest{Time: l.options.Now(), Version: l.options.Version, Magic: Magic(l.options.Version)},
		SecretsProvider: l.base.SecretsProvider,
		Resources:       resources,
		Pending:         l.pending(names),
		Metadata:        l.base.Metadata,
	}
	if l.options.SecretsProvider != nil {
		out.SecretsProvider = l.options.SecretsProvider
	}
	if out.Snippets, err = names.snippets(l.snippets); err != nil {
		return nil, err
	}
	out.Extensions, err = l.referencedExtensions(resources)
	return out, err
}

// rewrite resolves aliases and, after a refresh, drops dangling references. An entry with the same result as the last time
// keeps its pointer, so that its encoding stays in the cache.
func (l *Ledger) rewrite(places []place, names renames) {
	for i, p := range places {
		places[i].resource = names.normalise(p.resource)
	}
	if l.refreshed {
		exists := make(map[urn.URN]bool, len(places))
		for _, p := range places {
			exists[p.resource.URN] = true
		}
		for i := range places {
			places[i].resource = dropDangling(places[i].resource, func(u urn.URN) bool { return exists[u] })
		}
	}
	i := 0
	for _, s := range l.slots {
		if s.resource == nil {
			continue
		}
		if now := places[i].resource; now != s.resource {
			if before, ok := l.rewritten[s.resource]; ok && sameReferences(before, now) {
				places[i].resource = before
			}
			l.rewritten[s.resource] = places[i].resource
		}
		i++
	}
}

func (l *Ledger) pending(names renames) []Pending {
	var ops []Pending
	for _, op := range l.base.Pending { // these come first
		if !has(l.carried, op.Resource) {
			continue
		}
		if op.Type == Creating { // an object to create has the name that the program gives it
			op.Resource = names.references(op.Resource)
		} else {
			op.Resource = names.normalise(op.Resource)
		}
		ops = append(ops, op)
	}
	for r, t := range l.open {
		ops = append(ops, Pending{Type: t, Resource: r})
	}
	slices.SortStableFunc(ops, func(a, b Pending) int {
		return cmp.Or(
			cmp.Compare(a.Resource.URN, b.Resource.URN),
			cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.Resource.ID, b.Resource.ID),
			a.Resource.Created.Compare(b.Resource.Created),
			a.Resource.Modified.Compare(b.Resource.Modified),
		)
	})
	return ops
}

func (l *Ledger) referencedExtensions(rs []*Resource) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	for _, r := range rs {
		if r.ExtensionRef == "" || has(out, r.ExtensionRef) {
			continue
		}
		blob, ok := l.extensions[r.ExtensionRef]
		if !ok {
			blob, ok = l.base.Extensions[r.ExtensionRef]
		}
		if !ok {
			return nil, fmt.Errorf("resource %s refers to extension %s, which nobody has registered", r.URN, r.ExtensionRef)
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[r.ExtensionRef] = blob
	}
	return out, nil
}
