package state

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/property"
)

// KnownRecorder is a [Recorder] that keeps out of the record of a run what does not belong there: unknown values, and what the caller omits. An
// unknown in a state is not recorded unless the state's predecessor has the same unknown: the property keeps its last known value, or is left out. An
// unknown that another program has recorded stays, until a change replaces it.
//
// Everything else goes to the next recorder, which gets the same states by pointer, or clones of those that differ.
type KnownRecorder struct {
	next Recorder
	omit func(*Resource) *Resource

	mu    sync.Mutex // guards known
	known map[*Resource]*Resource
}

var _ Recorder = (*KnownRecorder)(nil)

// NewKnownRecorder records into next. omit returns a clone of a state without the properties that are not recorded, or the state itself if it has none. It
// is called for states that were not recorded before.
func NewKnownRecorder(next Recorder, omit func(*Resource) *Resource) *KnownRecorder {
	return &KnownRecorder{next: next, omit: omit, known: map[*Resource]*Resource{}}
}

// Begin implements [Recorder].
func (k *KnownRecorder) Begin(ctx context.Context, op Pending) error {
	var before *Resource
	if op.Type == Deleting {
		before = op.Resource
	}
	op.Resource = k.recorded(op.Resource, before)
	return k.next.Begin(ctx, op)
}

// End implements [Recorder].
func (k *KnownRecorder) End(ctx context.Context, c Change) error {
	before := map[string]*Resource{}
	c.Begun = k.recorded(c.Begun, nil)
	remove := make([]*Resource, len(c.Remove))
	for i, old := range c.Remove {
		remove[i] = k.recorded(old, old)
		before[string(old.URN)] = remove[i]
	}
	replace := make([]Replacement, len(c.Replace))
	for i, p := range c.Replace {
		old := k.recorded(p.Old, p.Old)
		replace[i] = Replacement{Old: old, New: k.recorded(p.New, old)}
	}
	if c.Remove != nil {
		c.Remove = remove
	}
	if c.Replace != nil {
		c.Replace = replace
	}
	if c.Add != nil {
		c.Add = k.recorded(c.Add, before[string(c.Add.URN)])
	}
	return k.next.End(ctx, c)
}

// Rebase implements [Recorder].
func (k *KnownRecorder) Rebase(ctx context.Context, base *Snapshot) error {
	k.mu.Lock()
	changed := len(k.known) > 0
	k.mu.Unlock()
	if changed {
		other := *base
		other.Resources = make([]*Resource, len(base.Resources))
		for i, res := range base.Resources {
			other.Resources[i] = k.recorded(res, res)
		}
		base = &other
	}
	return k.next.Rebase(ctx, base)
}

// Snapshot implements [Recorder].
func (k *KnownRecorder) Snapshot() (*Snapshot, error) { return k.next.Snapshot() }

// Close implements [Recorder].
func (k *KnownRecorder) Close(ctx context.Context) error { return k.next.Close(ctx) }

// recorded returns the state that is recorded for res, whose predecessor is before; nil if it has none. A state is its own
// predecessor if it was recorded before.
func (k *KnownRecorder) recorded(res, before *Resource) *Resource {
	if res == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.known[res]; ok {
		return known
	}
	if before == res {
		return res
	}
	known := withoutUnknowns(k.omit(res), before)
	if known != res {
		k.known[res] = known
	}
	return known
}

// withoutUnknowns returns a state to record after before, which is nil if it has no predecessor.
func withoutUnknowns(res, before *Resource) *Resource {
	if res.Inputs.IsKnown() && res.Outputs.IsKnown() {
		return res
	}
	if before == nil {
		before = &Resource{}
	}
	inputs, outputs := recordable(res.Inputs, before.Inputs), recordable(res.Outputs, before.Outputs)
	if property.IdenticalMaps(inputs, res.Inputs) && property.IdenticalMaps(outputs, res.Outputs) {
		return res
	}
	known := res.Clone()
	known.Inputs, known.Outputs = inputs, outputs
	return known
}

// recordable returns the properties of m to record after before.
func recordable(m, before property.Map) property.Map {
	if m.IsKnown() {
		return m
	}
	out := make(map[string]property.Value, m.Len())
	for name, v := range m.All() {
		was, had := before.Get(name)
		switch {
		case v.IsKnown(), had && property.Identical(v, was) && !v.HasUnavailable():
			out[name] = v
		default:
			if rest, ok := v.WithoutUnknowns(); ok {
				out[name] = rest
			} else if had && was.IsKnown() {
				out[name] = was
			}
		}
	}
	return property.NewMap(out)
}
