package simulate

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// now returns the time for all operations. It never changes, so that states of different timings can be equal.
func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

// world is everything that exists between operations: the state, the cloud, and the known and accepted differences between
// the two.
type world struct {
	snapshot *state.Snapshot
	cloud    *providertest.Memory
	// loose objects exist and do not belong to the stack. missing objects do not exist, although the state may name them.
	loose, missing map[string]bool
	late           []effect // of calls with lost answers, which may still land
	answers        []byte   // the recorded answers of the providers
}

// effect is the effect of a call on the cloud whose answer is lost, because the engine or the plugin died. The cloud has the
// request, and may carry it out at any time.
type effect struct {
	Method providers.Method
	URN    urn.URN
	ID     string // "" for a create
	Inputs property.Map
	after  Landing
}

func newWorld() *world {
	return &world{cloud: providertest.NewMemory(), loose: map[string]bool{}, missing: map[string]bool{}}
}

func (w *world) clone() *world {
	return &world{snapshot: w.snapshot, cloud: w.cloud.Clone(), loose: maps.Clone(w.loose), missing: maps.Clone(w.missing), late: w.late, answers: w.answers}
}

// resources returns the resources of the state.
func (w *world) resources() []*state.Resource {
	if w.snapshot == nil {
		return nil
	}
	return w.snapshot.Resources
}

// isInDoubt reports whether an interrupted create under that name may have created an object that is not recorded.
func (w *world) isInDoubt(u urn.URN) bool {
	return w.snapshot != nil && slices.ContainsFunc(w.snapshot.Pending, func(p state.Pending) bool {
		return p.Type == state.Creating && p.Resource.URN == u && p.Resource.Custom && !u.Type().IsProvider() && !w.records(p.Resource)
	})
}

// records reports whether the object of a pending operation is recorded.
func (w *world) records(pending *state.Resource) bool {
	return pending.ID != "" && slices.ContainsFunc(w.resources(), func(r *state.Resource) bool { return r.URN == pending.URN && r.ID == pending.ID })
}

// isPending reports whether the state records an operation on a resource as begun.
func (w *world) isPending(u urn.URN) bool {
	return w.snapshot != nil && slices.ContainsFunc(w.snapshot.Pending, func(p state.Pending) bool { return p.Resource.URN == u })
}

// exists returns the objects that exist.
func (w *world) exists() map[string]providertest.Record {
	all, _ := w.cloud.All() // a table in memory returns no error
	out := make(map[string]providertest.Record, len(all))
	for _, r := range all {
		out[r.ID] = r
	}
	return out
}

// isManaged reports whether a recorded state stands for an object of the cloud that the stack manages.
func isManaged(r *state.Resource) bool {
	return r.Custom && !r.External && !r.PendingReplacement && !r.Type.IsProvider() && r.Type.Package() != "pulumi"
}

// apply makes an edit. It skips an edit that would leave an invalid state.
func (w *world) apply(e Edit) {
	if e.Do == Foreign {
		w.put(e.Name, urn.New("other", "p", "", "test:index:Thing", e.Name), property.NewMap(map[string]property.Value{"value": property.String("a")}))
		w.loose[e.Name] = true
		return
	}
	at := slices.IndexFunc(w.resources(), func(r *state.Resource) bool {
		return r.URN.Name() == e.Name && !r.Delete && r.Custom && !r.Type.IsProvider()
	})
	if at < 0 {
		return
	}
	old := w.resources()[at]
	switch e.Do {
	case Drift:
		if r, ok := w.exists()[old.ID]; ok {
			w.put(r.ID, r.URN, r.Inputs.With("value", property.String("drifted")))
		}
	case Vanish:
		w.vanish(old)
	case PendingOperation:
		s, begun := *w.snapshot, state.Creating
		if old.External {
			begun = state.Reading
		}
		s.Pending = append(slices.Clone(s.Pending), state.Pending{Type: begun, Resource: old.Clone()})
		w.snapshot = &s
	case Interrupted:
		if isManaged(old) {
			half := old.Clone()
			half.ID, half.Outputs = "", property.Map{}
			s := *w.snapshot
			s.Pending = append(slices.Clone(s.Pending), state.Pending{Type: state.Creating, Resource: half})
			w.snapshot = &s
		}
	case OldCopy:
		w.addOldCopy(at, old)
	default:
		w.change(at, old, e.Do)
	}
}

func (w *world) put(id string, u urn.URN, inputs property.Map) {
	_ = w.cloud.Write(providertest.Record{ID: id, URN: u, Type: u.Type(), Inputs: inputs})
	delete(w.missing, id)
}

func (w *world) vanish(r *state.Resource) {
	_ = w.cloud.Remove(r.ID)
	w.missing[r.ID] = true
}

// change edits one resource of the state.
func (w *world) change(at int, old *state.Resource, how EditKind) {
	c := old.Clone()
	switch how {
	case Taint:
		c.Taint = !c.External
	case Protect:
		c.Protect = true
	case Unprotect:
		c.Protect = false
	case Retain:
		c.RetainOnDelete = true
	case PendingReplacement:
		if c.External {
			return
		}
		w.vanish(old)
		c.PendingReplacement = true
	}
	s := *w.snapshot
	s.Resources = slices.Clone(s.Resources)
	s.Resources[at] = c
	w.snapshot = &s
}

// addOldCopy adds an old copy with an object of its own, before the resource, as after a replacement whose delete failed.
func (w *world) addOldCopy(at int, old *state.Resource) {
	if !isManaged(old) || strings.HasSuffix(old.ID, "-old") {
		return
	}
	c := old.Clone()
	c.Delete, c.ID = true, old.ID+"-old"
	if _, twice := w.exists()[c.ID]; twice {
		return
	}
	w.put(c.ID, c.URN, c.Inputs)
	s := *w.snapshot
	s.Resources = slices.Insert(slices.Clone(s.Resources), at, c)
	if state.Verify(&s) != nil {
		_ = w.cloud.Remove(c.ID)
		return
	}
	w.snapshot = &s
}

// doubts counts the recorded creates of uncertain outcome.
func (w *world) doubts() map[urn.URN]int {
	out := map[urn.URN]int{}
	if w.snapshot != nil {
		for _, p := range w.snapshot.Pending {
			if p.Type == state.Creating && !w.records(p.Resource) {
				out[p.Resource.URN]++
			}
		}
	}
	return out
}

// land applies the effects that are due. An object that is created after its pending create was resolved belongs to no stack:
// the decision had to be made before there was anything to find.
func (w *world) land() {
	var waiting []effect
	for _, e := range w.late {
		switch e.after--; {
		case e.after > 0:
			waiting = append(waiting, e)
		case e.after == 0:
			w.carryOut(e)
		}
	}
	w.late = waiting
}

func (w *world) carryOut(e effect) {
	r, exists := w.exists()[e.ID]
	switch {
	case e.Method == providers.MethodCreate:
		w.carryOutCreate(e)
	case !exists: // the cloud refuses the call
	case e.Method == providers.MethodUpdate:
		w.put(r.ID, r.URN, e.Inputs)
	default:
		_ = w.cloud.Remove(r.ID)
		w.missing[r.ID] = true
	}
}

func (w *world) carryOutCreate(e effect) {
	made, _ := w.cloud.Made(e.URN) // a table in memory returns no error
	id := providertest.ID(e.URN, made+1)
	if v, ok := e.Inputs.Get(nameName); ok && v.IsString() {
		id = v.AsString()
	}
	if _, taken := w.exists()[id]; taken {
		return
	}
	w.put(id, e.URN, e.Inputs)
	open := w.doubts()[e.URN]
	for other, r := range w.exists() {
		if r.URN == e.URN && other != id && !w.loose[other] && !slices.ContainsFunc(w.resources(), func(r *state.Resource) bool { return r.ID == other }) {
			open--
		}
	}
	if open <= 0 {
		w.loose[id] = true
	}
}
