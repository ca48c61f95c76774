package simulate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// verification checks one finished attempt for broken promises.
type verification struct{ *attempt }

// verify returns the promises that an attempt has broken, apart from those about other attempts.
func verify(ctx context.Context, of *attempt) []string {
	a := verification{of}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.verifyTime()
	a.verifyEvents()
	a.verifyReasons()
	a.verifyPolicies()
	if a.err == nil && a.slots.refuses("") {
		a.fault("it succeeds, and a stage has refused something")
	}
	if a.preview {
		a.verifyPreview()
		return a.faults
	}
	if a.err == nil && a.journal.refused {
		a.fault("it succeeds, and something could not be recorded")
	}
	a.verifyRefusal(ctx)
	a.verifyPending()
	a.verifyCut()
	a.verifyObjects()
	a.verifyEntries()
	a.verifyDeletes()
	a.verifyOrder()
	a.verifyGrounds()
	a.verifyExports()
	return a.faults
}

// verifyExports checks that outputs of the stack that stayed unknown have their previously recorded values, or none, and that the events of an
// update have the recorded outputs.
func (a verification) verifyExports() {
	if a.program == nil || a.program.exported == "" || a.wasInterrupted() {
		return
	}
	outputs := func(w *world) property.Map {
		for _, r := range w.resources() {
			if r.URN == a.program.exported && !r.Delete {
				return r.Outputs
			}
		}
		return property.Map{}
	}
	before, after := outputs(a.before), outputs(a.after)
	if a.op.Do == Update && a.result != nil && !property.EqualMaps(a.result.Outputs, after) {
		a.fault("the outputs are %v, and the run says %v", after, a.result.Outputs)
	}
	for _, name := range a.program.unknownExports {
		was, had := before.Get(name)
		is, has := after.Get(name)
		if has && !(had && property.Equal(was, is)) || had && !has && after.Len() > 0 {
			a.fault("the output %q, which is not known, was %v and is %v", name, was, is)
		}
	}
}

// verifyTime finds operations that waited until the simulator gave up, for something that never came.
func (a verification) verifyTime() {
	const most = 10 * time.Minute // the sum of all latencies in sequence
	if a.took > most {
		a.fault("the operation took %v", a.took)
	}
}

// verifyEvents checks the order of the events (protocol.md 9.4).
func (a verification) verifyEvents() {
	if len(a.events) == 0 {
		var failed *sluice.FailedError
		if a.err == nil || errors.As(a.err, &failed) {
			a.fault("there are no events")
		}
		return
	}
	n := len(a.events)
	if _, ok := a.events[0].(stages.Prelude); !ok {
		a.fault("the first event is a %T", a.events[0])
	}
	if a.events[n-1] != (stages.Ended{}) {
		a.fault("the last event is a %T", a.events[n-1])
	}
	type key struct {
		op  stages.Op
		urn urn.URN
	}
	started := map[key]int{}
	for i, e := range a.events {
		switch e := e.(type) {
		case stages.StepStarted:
			started[key{e.Step.Op, e.Step.URN}]++
		case stages.StepDone:
			k := key{e.Step.Op, e.Step.URN}
			if (a.op.Do == Refresh || a.op.Do == Recover) && started[k] == 0 && started[key{stages.OpRefresh, e.Step.URN}] > 0 {
				k.op = stages.OpRefresh // reported as the result of the refresh
			}
			if !e.Outputs {
				started[k]--
			}
			if started[k] < 0 {
				a.fault("the end of %s of %s comes without a beginning", e.Step.Op, e.Step.URN)
			}
		case stages.StepFailed:
			if started[key{e.Step.Op, e.Step.URN}]--; started[key{e.Step.Op, e.Step.URN}] < 0 {
				a.fault("the failure of %s of %s comes without a beginning", e.Step.Op, e.Step.URN)
			}
		case stages.Summary:
			if i != n-2 {
				a.fault("there is a summary at %d of %d events", i, n)
			}
		case stages.Prelude:
			if i != 0 {
				a.fault("there is a prelude at %d of %d events", i, n)
			}
		}
	}
	if a.err != nil {
		return
	}
	for k, left := range started {
		isComponent := k.urn.Type() == "test:index:Group" || k.urn.Type() == urn.RootStackType // they end with their outputs
		if left > 0 && (a.preview || !isComponent) {
			a.fault("%s of %s has begun and not ended", k.op, k.urn)
		}
	}
}

// verifyPreview finds side effects of a preview.
func (a verification) verifyPreview() {
	if a.journal.ledger != nil {
		a.fault("a preview begins to record")
	}
	if len(a.calls) > 0 {
		a.fault("a preview makes a real %s of %s", a.calls[0].method, a.calls[0].urn)
	}
	before, after := a.before.exists(), a.after.exists()
	if len(before) != len(after) {
		a.fault("a preview changes what exists")
	}
}

// verifyRefusal checks that operations that did not begin have changed nothing.
func (a verification) verifyRefusal(ctx context.Context) {
	var failed *sluice.FailedError
	if a.err == nil || errors.As(a.err, &failed) {
		return
	}
	before, err1 := encode(ctx, a.before.snapshot)
	after, err2 := encode(ctx, a.after.snapshot)
	if err := errors.Join(err1, err2); err != nil {
		a.fault("the state cannot be written: %v", err)
	}
	if before != after || len(a.calls) > 0 {
		a.fault("an operation that was refused (%v) changed something", a.err)
	}
}

// verifyPending checks that operations with an uncertain outcome stay in the state, and no others.
func (a verification) verifyPending() {
	if a.after.snapshot == nil || a.journal.crashed() {
		return
	}
	for _, op := range a.after.snapshot.Pending {
		recorded := a.before.snapshot != nil && slices.ContainsFunc(a.before.snapshot.Pending, func(p state.Pending) bool {
			return p.Type == op.Type && (p.Resource.URN == op.Resource.URN || a.isRenamed(p.Resource, op.Resource.URN))
		})
		if !recorded && !a.diedDuring(op) {
			a.fault("%s %s is pending for no reason", op.Type, op.Resource.URN)
		}
	}
	if a.op.Do == Recover {
		a.verifyRecovery()
		return
	}
	if a.before.snapshot == nil || a.op.Pending != "" {
		return
	}
	for _, op := range a.before.snapshot.Pending {
		if u := op.Resource.URN; a.before.isInDoubt(u) && !a.after.isInDoubt(u) && !a.wasImported(u) {
			a.fault("creating %s is not pending any more, and nobody has resolved it", u)
		}
	}
}

// isRenamed reports whether the object of a pending operation is now recorded under another name. An update is pending without its ID.
func (a verification) isRenamed(was *state.Resource, now urn.URN) bool {
	id := was.ID
	for _, r := range a.before.snapshot.Resources {
		if id == "" && r.URN == was.URN && !r.Delete {
			id = r.ID
		}
	}
	return id != "" && slices.ContainsFunc(a.after.snapshot.Resources, func(r *state.Resource) bool { return r.URN == now && r.ID == id })
}

// wasImported reports whether a resource was imported, under this name or under a new one.
func (a verification) wasImported(u urn.URN) bool {
	isNamed := func(name string) bool {
		return name == u.Name() || slices.ContainsFunc(a.op.Program, func(d Declaration) bool {
			return d.Name == name && slices.ContainsFunc(d.Aliases, func(alias Alias) bool { return alias.Name == u.Name() })
		})
	}
	return a.result != nil && slices.ContainsFunc(a.result.Steps(), func(s stages.StepInfo) bool {
		return (s.Op == stages.OpImport || s.Op == stages.OpImportReplacement) && (s.URN == u || isNamed(s.URN.Name()))
	})
}

func (a verification) diedDuring(op state.Pending) bool {
	switch op.Type {
	case state.Reading:
		return a.couldDieIn("read")
	case state.Importing: // a resource that an import has read is checked (steps.md 4.4)
		return a.couldDieIn("read") || a.couldDieIn("check")
	}
	return slices.ContainsFunc(a.calls, func(c *call) bool {
		return c.urn == op.Resource.URN && died(c.err) && string(c.method) == methodOf(op.Type)
	})
}

// couldDieIn reports whether the provider may exit in calls of a method.
func (a verification) couldDieIn(method string) bool {
	return slices.ContainsFunc(a.op.Failures, func(f Failure) bool { return f.Died && f.Method == method })
}

// verifyObjects finds objects that no state records any more.
func (a verification) verifyObjects() {
	known := map[string]bool{}
	for _, r := range a.after.resources() {
		if r.Custom && !r.PendingReplacement {
			known[r.ID] = true
		}
	}
	existed := a.before.exists()
	exists := a.after.exists()
	ids := slices.SortedFunc(maps.Keys(exists), func(x, y string) int { // new ones first: they belong to the present pending operations
		_, oldX := existed[x]
		_, oldY := existed[y]
		return cmp.Or(compareBools(oldX, oldY), cmp.Compare(x, y))
	})
	doubts := a.after.doubts()
	for _, id := range ids {
		r := exists[id]
		_, old := existed[id]
		switch {
		case known[id], a.after.loose[id]:
		case old && a.wasLetGo(id): // needs no pending create, even beside one for another object
			a.after.loose[id] = true
		case doubts[r.URN] > 0:
			doubts[r.URN]-- // each pending create explains one object
		case !old && a.wasDenied(r.URN), old && a.before.isInDoubt(r.URN): // the pending create was resolved
			a.after.loose[id] = true
		case old:
			a.fault("the state has lost the object %s of %s", id, r.URN)
			a.after.loose[id] = true
		default:
			a.fault("the object %s of %s was made and is not in the state", id, r.URN)
			a.after.loose[id] = true
		}
	}
}

func compareBools(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// wasLetGo reports whether the state, or the program, said to retain an object, or the state said that deleting another one deletes it.
func (a verification) wasLetGo(id string) bool {
	retained := func(e stages.Event) bool {
		s, ok := e.(stages.StepDone)
		return ok && s.Step.RetainedNow && s.Step.Old.ID == id
	}
	return slices.ContainsFunc(a.events, retained) || slices.ContainsFunc(slices.Concat(a.before.resources(), a.remaining()), func(r *state.Resource) bool {
		return r.ID == id && (r.External || r.RetainOnDelete || r.DeletedWith != "")
	})
}

// wasDenied reports whether the provider denied having created an object that it had created.
func (a verification) wasDenied(u urn.URN) bool {
	return slices.ContainsFunc(a.calls, func(c *call) bool {
		return c.urn == u && c.method == providers.MethodCreate && c.err != nil && !died(c.err)
	})
}

// verifyEntries finds states that stand for no object.
func (a verification) verifyEntries() {
	exists := a.after.exists()
	for _, r := range a.after.resources() {
		if _, ok := exists[r.ID]; ok || !isManaged(r) || a.after.missing[r.ID] {
			continue
		}
		switch {
		case a.mayBeGone(r.ID):
			a.after.missing[r.ID] = true
		default:
			a.fault("the state says that %s of %s exists, which it does not", r.ID, r.URN)
			a.after.missing[r.ID] = true
		}
	}
}

// mayBeGone reports whether a delete failed after it took effect, or took effect for another state of the same object.
func (a verification) mayBeGone(id string) bool {
	entries, names := 0, map[urn.URN]bool{}
	for _, r := range a.before.resources() {
		if r.ID == id {
			entries++
			names[r.URN] = true
		}
	}
	for _, r := range a.after.resources() {
		if r.ID == id && !names[r.URN] {
			entries++
		}
	}
	return slices.ContainsFunc(a.calls, func(c *call) bool {
		return c.method == providers.MethodDelete && c.id == id && (c.err != nil || a.journal.crashed() || entries > 1)
	})
}

// verifyDeletes checks the order of the deletes of the end phase. A dependent is deleted first, and its dependencies stay if it could not be
// deleted (steps.md 5.3). A state that stood before another one in the state at the start does not refer to it, also if the record of this run
// has moved an old copy forward since then, because an old copy refers to old copies (state.md 1.15).
func (a verification) verifyDeletes() {
	type object struct {
		urn urn.URN
		id  string
	}
	started := map[object]int{}
	for i, r := range a.before.resources() {
		started[object{r.URN, r.ID}] = i
	}
	later := func(dependency, r object) bool {
		i, had := started[r]
		j, hadToo := started[dependency]
		return had && hadToo && j > i
	}
	late := map[object]*call{}
	for _, c := range a.calls {
		if c.method == providers.MethodDelete && c.late {
			late[object{c.urn, c.id}] = c
		}
	}
	at := map[urn.URN][]*call{}
	for _, r := range a.remaining() {
		own := late[object{r.URN, r.ID}]
		if r.Delete && r.RetainOnDelete {
			own = nil // an import has taken its object over: the call is that of the other state
		}
		if own != nil && r.External && !a.isManagedToo(r.ID) {
			a.fault("the object %s of %s is deleted, which the stack does not manage", r.ID, r.URN)
		}
		for ref := range r.References() {
			for _, dep := range at[ref.URN] {
				switch {
				case own == nil, later(object{dep.urn, dep.id}, object{r.URN, r.ID}):
				case own.err != nil:
					a.fault("%s is deleted although the delete of %s, which depends on it, has failed", dep.id, own.id)
				case dep.begun < own.end:
					a.fault("%s is deleted before %s, which depends on it", dep.id, own.id)
				}
			}
		}
		if own != nil {
			at[r.URN] = append(at[r.URN], own)
		}
	}
}

// remaining returns the resources that were recorded when the deletes of the end phase began.
func (a verification) remaining() []*state.Resource {
	if a.journal.ending == nil {
		return nil
	}
	return a.journal.ending.Resources
}

// isManagedToo reports whether another state manages the object: a program may read an object that it imports.
func (a verification) isManagedToo(id string) bool {
	return slices.ContainsFunc(a.before.resources(), func(r *state.Resource) bool { return r.ID == id && isManaged(r) })
}
