package simulate

import (
	"slices"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

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
