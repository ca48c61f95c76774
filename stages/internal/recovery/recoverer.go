package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Recoverer resolves creates that earlier runs began and did not end, before the program starts.
type Recoverer struct {
	Control  *control.Control
	Rooms    *rooms.Rooms // of the recorded state, not of the run: the recoverer returns the base of the run
	Access   *access.Access
	Executor *step.Executor
	Recorded *state.Snapshot
}

// Answer is the resolution of an interrupted create, with its reason.
type Answer struct {
	Resolution stages.CreateResolution
	Why        string
}

// Resolved is the result of resolving interrupted creates.
type Resolved struct {
	Snapshot *state.Snapshot          // the recorded state now
	Again    map[*state.Resource]bool // the pending resources that may be created again
	Creates  []stages.Resolution      // one for each create
}

// ResolveCreates resolves creates that an earlier run began and whose outcome is unknown (state.md 9.4 R-6). resolve returns the
// resolution of each; a create without one stays pending. An object that cannot be read fails the run, and its create stays pending
// as well. The result is returned also with an error.
func (r *Recoverer) ResolveCreates(ctx context.Context, resolve func(state.Pending) Answer) (out Resolved, err error) {
	snapshot := *r.Recorded
	snapshot.Pending = nil
	out = Resolved{Snapshot: &snapshot, Again: map[*state.Resource]bool{}}
	failed := false
	var made []*state.Resource
	for i, op := range r.Recorded.Pending {
		if err != nil || !op.IsInterruptedCreate() {
			snapshot.Pending = append(snapshot.Pending, op)
			continue
		}
		answer := resolve(op)
		is := stages.Resolution{Pending: op, Outcome: stages.Unresolved, Why: answer.Why}
		switch {
		case answer.Resolution.ID != "":
			var res *state.Resource
			is, res = r.adopt(is, answer.Resolution.ID, i, made)
			failed = failed || is.Outcome == stages.Unresolved
			if res != nil {
				made = append(made, res)
			}
		case answer.Resolution.Clear:
			is.Outcome = stages.NotCreated
		}
		out.Creates = append(out.Creates, is)
		if is.Outcome != stages.Unresolved {
			err = r.Executor.Reporter.EndCreate(ctx, op.Resource)
			continue
		}
		snapshot.Pending = append(snapshot.Pending, op)
		out.Again[op.Resource] = answer.Resolution.Again
	}
	if len(made) > 0 && err == nil {
		err = r.rebase(ctx, &snapshot, made)
	}
	if failed && err == nil {
		r.Control.Halt()
		err = &stages.ReportedError{Err: errUnresolved}
	}
	return out, err
}

// adopt records the object that an interrupted create has made. It returns the resolution of the create, and the new recorded
// state, nil if nothing new was recorded. made has the states that were adopted before. References of the object to resources that
// are gone are left out. The object replaces a state that a replacement had deleted before, or was to delete afterwards: that state
// is marked, and the next update deletes it.
func (r *Recoverer) adopt(is stages.Resolution, id string, place int, made []*state.Resource) (stages.Resolution, *state.Resource) {
	recorded := r.present(made)
	old := continued(recorded, is.Resource)
	if isRecordedSince(is.Pending, old, id) {
		is.Outcome, is.ID, is.Why = stages.Adopted, id, "the object is recorded already"
		return is, nil
	}
	res := is.Resource.Clone()
	res.ImportID = id
	all := state.Rebuild(append(recorded, res), nil)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: res.URN, Type: res.Type, New: all[len(all)-1], Provider: res.Provider, Reason: stages.Reason{Kind: stages.ReasonInterrupted},
	}, Rank: stages.Rank{Place: place}, Superseded: old}
	if err := isAdoptable(is.Pending, old, id, recorded); err != nil {
		r.Executor.Reporter.ReportFailure(s, s.StepInfo, step.Failed(err))
		is.Why = err.Error()
		return is, nil
	}
	r.Executor.Reporter.Expect(s)
	if !r.Control.Enter() {
		is.Why = "the operation was stopped before"
		return is, nil
	}
	defer r.Control.Leave(nil)
	if _, err := r.Executor.ExecuteStep(s); err != nil {
		is.Why = err.Error()
		return is, nil
	}
	now := r.Rooms.Outcomes.Of(s).Made
	is.Outcome, is.ID = stages.Adopted, now.ID
	if old != nil && !old.PendingReplacement {
		is.Replaced = old.ID
	}
	return is, now
}

// present returns the recorded states as they are now, then the new ones.
func (r *Recoverer) present(made []*state.Resource) []*state.Resource {
	var all []*state.Resource
	for _, res := range append(slices.Clone(r.Recorded.Resources), made...) {
		all = append(all, r.Rooms.Present(res)...)
	}
	return all
}

// rebase makes the present states the base, in the order and with the names with which they are written.
func (r *Recoverer) rebase(ctx context.Context, now *state.Snapshot, made []*state.Resource) error {
	ledger := state.NewLedger(r.Recorded, state.LedgerOptions{Now: r.Control.Now})
	for _, res := range r.Recorded.Resources {
		change := state.Change{Remove: []*state.Resource{res}}
		switch is := r.Rooms.Results.Current(res); is {
		case res:
			continue
		case nil:
		default:
			change = state.Change{Replace: []state.Replacement{{Old: res, New: is}}}
		}
		if err := ledger.End(change); err != nil {
			return err
		}
	}
	for _, res := range made {
		for _, is := range r.Rooms.Present(res) {
			if err := ledger.End(state.Change{Add: is, Extension: r.Access.Extensions.Recorded(is.ExtensionRef)}); err != nil {
				return err
			}
		}
	}
	written, err := ledger.Snapshot()
	if err != nil {
		return err
	}
	now.Resources, now.Extensions = written.Resources, written.Extensions
	if r.Executor.Reporter.Recorder == nil {
		return nil
	}
	if err := r.Executor.Reporter.Recorder.Rebase(ctx, now); err != nil {
		return fmt.Errorf("recording what was adopted: %w", err)
	}
	return nil
}

// FindCreated looks for the object of an interrupted create: one whose ID is the name that was generated for it, which is in the
// inputs that were recorded before the call of the provider. The answer has its ID, or reports that there is certainly none, or
// neither.
func (r *Recoverer) FindCreated(op state.Pending) Answer {
	res := op.Resource
	if rooms.HasNoObject(res) {
		return absent("there is no object outside the state")
	}
	names := r.identifyingNames(res)
	if len(names) == 0 {
		return unknown("no input is known to be the ID of the object")
	}
	p, err := r.Access.ProviderFor(r.Control.Operations, res)
	if err != nil {
		r.Control.Warn(res.URN, "The object cannot be looked for: %w", err)
		return unknown("the object cannot be looked for: %v", err)
	}
	old := continued(r.Recorded.Resources, res)
	for _, n := range names {
		found, err := r.exists(p, res, n)
		switch {
		case err != nil:
			r.Control.Warn(res.URN, "The provider cannot tell whether there is an object with the ID %s: %w", n.value, err)
			return unknown("the provider cannot tell whether there is an object with the ID %s: %v", n.value, err)
		case found != "" && isReplaced(op, old) && !old.PendingReplacement && found == old.ID:
			return unknown("the object with the ID %s is the one that was to be replaced", found)
		case found != "" && old != nil && !old.PendingReplacement && !isReplaced(op, old) && found != old.ID:
			r.Control.Warn(res.URN, "There is an object with the ID %s, which the interrupted create may have made. It cannot be adopted, because another one "+
				"has been recorded since, with the ID %s: import it under another name, or delete it", found, old.ID)
			return unknown("there is an object with the ID %s, but the one with the ID %s has been recorded as the resource since", found, old.ID)
		case found != "" && n.madeUp:
			return Answer{Resolution: stages.CreateResolution{ID: found}, Why: "the object has the name that was made up for it"}
		case found != "":
			text := fmt.Sprintf("There is an object with the ID %s. It is not known whether this create made it, because its name was not generated; "+
				"if so, adopt it", found)
			r.Control.Diagnose(res.URN, stages.Warning, 0, text, advice.Advice{Action: advice.Adopt, URNs: []urn.URN{res.URN}, ID: found})
			return unknown("there is an object with the ID %s, but its name was not made up, so that it may be somebody else's", found)
		case n.isID:
			return absent("there is no object with the ID %s, which is its name, as of the other resources of the type", n.value)
		}
	}
	return unknown("there is no object with the ID %s, but the names of objects of the type may not be their IDs", names[0].value)
}

// identifyingNames are the inputs of a resource that may be its ID, the most certain ones first.
func (r *Recoverer) identifyingNames(res *state.Resource) []name {
	isID := map[string]bool{}
	for _, other := range r.Rooms.Base.Resources {
		if other.Type != res.Type || other.ID == "" {
			continue
		}
		for property, v := range other.Inputs.All() {
			if text, ok := plainText(v); ok && text == other.ID {
				isID[property] = true
			}
		}
	}
	var names []name
	for property, v := range res.Inputs.All() {
		text, ok := plainText(v)
		if !ok {
			continue
		}
		n := name{property: property, value: text, isID: isID[property], madeUp: isMadeUp(text, res.URN.Name())}
		if n.isID || n.madeUp {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b name) int {
		if a.isID != b.isID {
			if a.isID {
				return -1
			}
			return 1
		}
		return strings.Compare(a.property, b.property)
	})
	return names
}

// exists reads an object by a name; "" means that there is none. An object that is not healthy exists.
func (r *Recoverer) exists(p providers.Provider, res *state.Resource, n name) (id string, err error) {
	found, err := access.Read(r.Control.Operations, p, providers.ReadRequest{
		URN: res.URN, Name: res.URN.Name(), Type: res.Type, ID: n.value, Timeout: res.CustomTimeouts.Value().Read,
	})
	var unhealthy *providers.InitError
	if errors.As(err, &unhealthy) {
		found = providers.ReadResponse{ID: unhealthy.ID, Inputs: unhealthy.Inputs, Properties: unhealthy.Properties}
		err = nil
	}
	if err != nil || found.Absent || found.ID == "" {
		return "", err
	}
	for _, m := range []property.Map{found.Inputs, found.Properties} {
		if v, ok := maps.Collect(m.All())[n.property]; ok {
			if text, ok := plainText(v); ok && text != n.value {
				return "", nil // something else has this ID
			}
		}
	}
	return found.ID, nil
}

// continued returns the live state that a create continues: under its URN, or under the former one if it was to be renamed as well.
// It is nil for the create of a new resource.
func continued(recorded []*state.Resource, res *state.Resource) *state.Resource {
	for _, u := range append([]urn.URN{res.URN}, res.Aliases...) {
		at := slices.IndexFunc(recorded, func(r *state.Resource) bool { return r.URN == u && !r.Delete })
		if at >= 0 {
			return recorded[at]
		}
	}
	return nil
}

// isReplaced reports whether a create was to replace a recorded state. The replacement has the creation time of the state that it
// replaces (steps.md 3.2), so another time means that another state was recorded since the create began.
func isReplaced(op state.Pending, old *state.Resource) bool {
	return old != nil && op.Resource.Created.Equal(old.Created)
}

// isRecordedSince reports whether the object with an ID has been recorded as the resource since its create was interrupted.
func isRecordedSince(op state.Pending, old *state.Resource, id string) bool {
	return old != nil && old.ID == id && !old.PendingReplacement && !isReplaced(op, old)
}

// isAdoptable refuses a resource without an object, and an object that is recorded under the name already or cannot replace the
// recorded one.
func isAdoptable(op state.Pending, old *state.Resource, id string, recorded []*state.Resource) error {
	res := op.Resource
	if rooms.HasNoObject(res) {
		return fmt.Errorf("%s has no ID that could be imported; clear its pending create instead", res.URN)
	}
	for _, r := range recorded {
		if r == old || r.URN == res.URN && r.Delete {
			if err := step.CheckNotOld(id, r); err != nil {
				return err
			}
		}
	}
	if old != nil && !old.PendingReplacement && !isReplaced(op, old) {
		return fmt.Errorf("%s is recorded already, with the ID %s, so that %s cannot be imported under its name; "+
			"clear the pending create and delete the object, or import it under another name", res.URN, old.ID, id)
	}
	return nil
}

func absent(format string, args ...any) Answer {
	return Answer{Resolution: stages.CreateResolution{Clear: true}, Why: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) Answer { return Answer{Why: fmt.Sprintf(format, args...)} }

var errUnresolved = errors.New("an object could not be adopted; see the errors of the resources")
