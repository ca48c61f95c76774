package simulate

import (
	"slices"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// verifyCut finds calls that were cut off and are not pending, so that their later effects would go unnoticed.
func (a verification) verifyCut() {
	for _, e := range a.cut {
		if a.after.snapshot == nil || !slices.ContainsFunc(a.after.snapshot.Pending, func(p state.Pending) bool {
			return methodOf(p.Type) == string(e.Method) && p.Resource.URN == e.URN && (e.Method != providers.MethodDelete || p.Resource.ID == e.ID)
		}) {
			a.fault("%s of %s %s was cut off and is not pending", e.Method, e.URN, e.ID)
		}
	}
}

// verifyRecovery checks the effect of a recovery: it changes no object, makes no decision that contradicts what exists,
// and leaves no pending operation that reading can resolve.
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
		canAsk := a.hasProvider(op.Resource)
		switch live := a.liveOf(op.Resource.URN); {
		case !inDoubt && !canAsk && a.op.Pending == "clear":
			// The answer "clear" states that it does not exist.
		case !inDoubt:
			a.fault("create of %s is not pending any more, and its object %s exists", op.Resource.URN, v.AsString())
		case live == nil && len(a.op.Failures) == 0 && canAsk:
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

// hasProvider reports whether the provider of a resource is recorded. Without it, the object cannot be read.
func (a verification) hasProvider(res *state.Resource) bool {
	return slices.ContainsFunc(a.after.resources(), func(p *state.Resource) bool { return string(p.URN)+"::"+p.ID == res.Provider })
}

// liveOf returns the live state of a URN.
func (a verification) liveOf(u urn.URN) *state.Resource {
	for _, r := range a.after.resources() {
		if r.URN == u && !r.Delete {
			return r
		}
	}
	return nil
}
