package simulate

import (
	"errors"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// effect is what a call does to the cloud whose answer nobody has heard, because the engine or the plugin died. The cloud has
// the request, and may carry it out at any time.
type effect struct {
	Method providers.Method
	URN    urn.URN
	ID     string // "" for a create
	Inputs property.Map
	after  Landing
}

// cutOffError is the error of a call whose answer is lost and whose effect is late.
type cutOffError struct{ after Landing }

func (*cutOffError) Error() string { return "the answer is lost" }

// cutOff returns an error for a call whose effect is to be late.
func (a *attempt) cutOff(c providertest.Call) error {
	if c.Preview || !isChange(c.Method) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if after := a.op.Late; after != 0 && a.journal.crashed() {
		return lost(after)
	}
	for _, f := range a.op.Failures {
		if f.isLate() && f.Method == string(c.Method) && (f.Name == "" || f.Name == c.URN.Name()) && (f.nth() == 0 || f.nth() == c.Nth) {
			return lost(f.Late)
		}
	}
	return nil
}

func lost(after Landing) error {
	return &providers.UncertainError{Err: &cutOffError{after}, Lost: true}
}

func isChange(m providers.Method) bool {
	return m == providers.MethodCreate || m == providers.MethodUpdate || m == providers.MethodDelete
}

// postpone keeps the effect of a call if its error says that it was cut off.
func (a *attempt) postpone(err error, e effect) {
	var cut *cutOffError
	if !errors.As(err, &cut) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.after = cut.after
	a.cut = append(a.cut, e)
}

// verifyCut finds calls that were cut off and are not pending: nobody would look for what they do later.
func (a verification) verifyCut() {
	for _, e := range a.cut {
		if a.after.snapshot == nil || !slices.ContainsFunc(a.after.snapshot.Pending, func(p state.Pending) bool {
			return methodOf(p.Type) == string(e.Method) && p.Resource.URN == e.URN && (e.Method != providers.MethodDelete || p.Resource.ID == e.ID)
		}) {
			a.fault("%s of %s %s was cut off and is not pending", e.Method, e.URN, e.ID)
		}
	}
}

// verifyRecovery checks what a recovery has done: it changes no object, decides nothing against what exists, and leaves no
// doubt that reading can decide.
func (a verification) verifyRecovery() {
	if len(a.calls) > 0 {
		a.fault("a recovery makes a real %s of %s", a.calls[0].method, a.calls[0].urn)
	}
	if a.before.snapshot == nil || a.err != nil {
		return
	}
	exists, known := a.after.exists(), map[string]bool{}
	for _, r := range a.after.resources() {
		known[r.ID] = true
	}
	for _, op := range a.before.snapshot.Pending {
		v, named := op.Resource.Inputs.Get(nameName)
		if op.Type != state.Creating || !named || !v.IsString() {
			continue
		}
		if _, made := exists[v.AsString()]; !made || known[v.AsString()] || a.after.loose[v.AsString()] {
			continue
		}
		inDoubt := a.after.doubts()[op.Resource.URN] > 0
		switch live := a.liveOf(op.Resource.URN); {
		case !inDoubt:
			a.fault("create of %s is not pending any more, and its object %s exists", op.Resource.URN, v.AsString())
		case live == nil && len(a.op.Failures) == 0:
			a.fault("%s of %s exists, and a recovery does not find it", v.AsString(), op.Resource.URN)
		}
	}
	if len(a.op.Failures) > 0 {
		return
	}
	for _, op := range a.after.snapshot.Pending {
		if op.Type == state.Updating || op.Type == state.Deleting {
			a.fault("%s %s is still pending after a recovery that could read everything", op.Type, op.Resource.URN)
		}
	}
}

// liveOf returns what is recorded under a URN and is no old copy.
func (a verification) liveOf(u urn.URN) *state.Resource {
	for _, r := range a.after.resources() {
		if r.URN == u && !r.Delete {
			return r
		}
	}
	return nil
}

// doubts counts the creates of which the state says that nobody knows what they have made.
func (w *world) doubts() map[urn.URN]int {
	out := map[urn.URN]int{}
	if w.snapshot != nil {
		for _, p := range w.snapshot.Pending {
			if p.Type == state.Creating {
				out[p.Resource.URN]++
			}
		}
	}
	return out
}

// land makes the effects happen whose time has come. What lands after its doubt was decided is nobody's object: that had to be
// decided before there was anything to find.
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
	case !exists: // the cloud refuses it
	case e.Method == providers.MethodUpdate:
		w.put(r.ID, r.URN, e.Inputs)
	default:
		_ = w.cloud.Remove(r.ID)
		w.missing[r.ID] = true
	}
}

func (w *world) carryOutCreate(e effect) {
	made, _ := w.cloud.Made(e.URN) // a table in memory does not fail
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
