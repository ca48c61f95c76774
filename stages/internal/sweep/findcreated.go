package sweep

import (
	"cmp"
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
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ResolveChanges finds out by reading how updates and deletes ended that an earlier run began and whose outcome is not known
// (state.md 9.4 R-8), and returns what it has found. What cannot be read stays pending. Interrupted reads and imports have
// changed nothing and are dropped.
func (r *Refresher) ResolveChanges(ctx context.Context) (Refreshed, error) {
	concerned := map[urn.URN]bool{}
	for _, op := range r.Recorded.Pending {
		if isChange(op) {
			concerned[r.readWith(op)] = true
		}
	}
	found, err := r.Refresh(ctx, func(res *state.Resource) bool { return concerned[res.URN] })
	if err != nil && !stages.IsReported(err) {
		return found, err
	}
	found.Changes = r.resolutions(found)
	if r.Taker.Recorder == nil {
		return found, err
	}
	return found, errors.Join(err, r.forgetResolved(ctx, &found))
}

// forgetResolved records which interrupted operations are resolved, other than by having read an object: that is recorded.
func (r *Refresher) forgetResolved(ctx context.Context, found *Refreshed) error {
	now := *found.Snapshot
	for _, is := range found.Changes {
		at := slices.Index(now.Pending, is.Pending)
		if at < 0 || is.Outcome == stages.Unresolved || !isChange(is.Pending) {
			continue
		}
		if err := r.Taker.Recorder.End(ctx, state.Change{Begun: is.Resource}); err != nil {
			return fmt.Errorf("recording that %s of %s is resolved: %w", is.Type, is.Resource.URN, err)
		}
		now.Pending = slices.Delete(slices.Clone(now.Pending), at, at+1)
	}
	found.Snapshot = &now
	return nil
}

// isChange reports whether reading an object tells what became of an operation.
func isChange(op state.Pending) bool { return op.Type != state.Creating && op.IsInDoubt() }

// readWith returns the resource whose read tells what became of op: a view is read with its owner (steps.md 9.9).
func (r *Refresher) readWith(op state.Pending) urn.URN {
	if op.Resource.ViewOf != "" {
		return op.Resource.ViewOf
	}
	return r.recordedAs(op)
}

// recordedAs returns the name under which the resource of an interrupted operation is recorded. It is a former one if the operation
// was to rename it.
func (r *Refresher) recordedAs(op state.Pending) urn.URN {
	if is := op.StateIn(r.Recorded.Resources); is != nil {
		return is.URN
	}
	return op.Resource.URN
}

// resolutions says how the interrupted operations other than creates are resolved by what was read.
func (r *Refresher) resolutions(found Refreshed) (all []stages.Resolution) {
	there := map[urn.URN]*state.Resource{} // a live copy, if there is one
	for _, res := range found.Resources {
		if known := there[res.URN]; known == nil || known.Delete {
			there[res.URN] = res
		}
	}
	for _, op := range r.Recorded.Pending {
		is := stages.Resolution{Pending: op}
		now := there[r.recordedAs(op)]
		switch {
		case op.Type == state.Creating:
			continue
		case op.Type == state.Reading || op.Type == state.Importing:
			is.Outcome, is.Why = stages.Dropped, "it changes no object"
		case now == nil:
			is.Outcome, is.Why = stages.Gone, "no object was found"
		case !found.Read[r.readWith(op)]:
			is.Outcome, is.Why = stages.Unresolved, "the object could not be read"
		default:
			is.Outcome, is.ID, is.Why = stages.Exists, now.ID, "the object was read"
		}
		all = append(all, is)
	}
	return all
}

// FindCreated looks for what an interrupted create has made: an object whose ID is the name that was made up for it, which is
// in the inputs that were recorded before the provider was called. The answer has its ID; or says that there is certainly none;
// or neither.
func (r *Recoverer) FindCreated(op state.Pending) Answer {
	res := op.Resource
	if book.HasNoObject(res) {
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
			return Answer{CreateResolution: stages.CreateResolution{ID: found}, Why: "the object has the name that was made up for it"}
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

func absent(format string, args ...any) Answer {
	return Answer{CreateResolution: stages.CreateResolution{Clear: true}, Why: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) Answer { return Answer{Why: fmt.Sprintf(format, args...)} }

// name is an input that may be the ID of an object.
type name struct {
	property, value string
	isID            bool // objects of this type have it as their ID: so the stack's other ones show
	madeUp          bool // it was made up for this object, so that no other one has it
}

// identifyingNames are the inputs of a resource that may be its ID, the most certain ones first.
func (r *Recoverer) identifyingNames(res *state.Resource) []name {
	isID := map[string]bool{}
	for _, other := range r.Book.Base.Resources {
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

func plainText(v property.Value) (string, bool) {
	if !v.IsString() {
		return "", false
	}
	return v.AsString(), v.AsString() != ""
}

// randomSuffix is the least number of random characters that names are made up with.
const randomSuffix = 7

// isMadeUp reports whether a name is that of the resource with random characters behind it: letters and digits, at least one of
// them a digit, as providers and [Autonamer] make them up.
func isMadeUp(text, resource string) bool {
	rest, ok := strings.CutPrefix(text, resource)
	rest = strings.TrimLeft(rest, "-_")
	if !ok || len(rest) < randomSuffix {
		return false
	}
	digit := false
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return false
		}
	}
	return digit
}

// exists asks the provider for an object by a name; "" means that there is none. An object that is not healthy is there.
func (r *Recoverer) exists(p providers.Provider, res *state.Resource, n name) (id string, err error) {
	found, err := p.Read(r.Control.Operations, providers.ReadRequest{
		URN: res.URN, Name: res.URN.Name(), Type: res.Type, ID: n.value, Timeout: res.CustomTimeouts.Read,
	})
	var unhealthy *providers.InitError
	if errors.As(err, &unhealthy) {
		found = providers.ReadResponse{ID: cmp.Or(unhealthy.ID, n.value), Exists: true, Inputs: unhealthy.Inputs, Properties: unhealthy.Properties}
		err = nil
	}
	if err != nil || !found.Exists || found.ID == "" {
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
