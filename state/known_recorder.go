package state

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/property"
)

// KnownRecorder is the door to the record of a run at which unknown values end. What a state has that is not known, and that its predecessor does
// not have in the same way, is not recorded: a property keeps its last known value, or is left out. A value that somebody else has
// recorded as unknown stays, as long as nothing makes it another one.
//
// Everything else is left to the recorder behind it, which gets the same states by pointer, or clones of those that differ.
type KnownRecorder struct {
	next Recorder

	mu    sync.Mutex // guards known
	known map[*Resource]*Resource
}

var _ Recorder = (*KnownRecorder)(nil)

// NewKnownRecorder records into next.
func NewKnownRecorder(next Recorder) *KnownRecorder {
	return &KnownRecorder{next: next, known: map[*Resource]*Resource{}}
}

// Begin implements [Recorder].
func (r *KnownRecorder) Begin(ctx context.Context, op Pending) error {
	var before *Resource
	if op.Type == Deleting {
		before = op.Resource
	}
	op.Resource = r.recorded(op.Resource, before)
	return r.next.Begin(ctx, op)
}

// End implements [Recorder].
func (r *KnownRecorder) End(ctx context.Context, c Change) error {
	before := map[string]*Resource{}
	c.Begun = r.recorded(c.Begun, nil)
	remove := make([]*Resource, len(c.Remove))
	for i, old := range c.Remove {
		remove[i] = r.recorded(old, old)
		before[string(old.URN)] = remove[i]
	}
	replace := make([]Replacement, len(c.Replace))
	for i, p := range c.Replace {
		old := r.recorded(p.Old, p.Old)
		replace[i] = Replacement{Old: old, New: r.recorded(p.New, old)}
	}
	if c.Remove != nil {
		c.Remove = remove
	}
	if c.Replace != nil {
		c.Replace = replace
	}
	if c.Add != nil {
		c.Add = r.recorded(c.Add, before[string(c.Add.URN)])
	}
	return r.next.End(ctx, c)
}

// Rebase implements [Recorder].
func (r *KnownRecorder) Rebase(ctx context.Context, base *Snapshot) error {
	r.mu.Lock()
	changed := len(r.known) > 0
	r.mu.Unlock()
	if changed {
		other := *base
		other.Resources = make([]*Resource, len(base.Resources))
		for i, res := range base.Resources {
			other.Resources[i] = r.recorded(res, res)
		}
		base = &other
	}
	return r.next.Rebase(ctx, base)
}

// Close implements [Recorder].
func (r *KnownRecorder) Close(ctx context.Context) error { return r.next.Close(ctx) }

// recorded returns the state that is recorded in the place of res, whose predecessor is before; nil if it has none. A state is
// its own predecessor if it was recorded before.
func (r *KnownRecorder) recorded(res, before *Resource) *Resource {
	if res == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.known[res]; ok {
		return known
	}
	if before == res || res.Inputs.IsKnown() && res.Outputs.IsKnown() {
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
	r.known[res] = known
	return known
}

// recordable returns what of m is recorded after before.
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
