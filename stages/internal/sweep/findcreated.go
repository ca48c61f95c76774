package sweep

import (
	"context"
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

// ResolveChanges finds out by reading how updates and deletes ended that an earlier run began and whose end nobody knows
// (state.md 9.4 R-8), and returns what it has found. What cannot be read stays pending. Interrupted reads and imports have
// changed nothing and are dropped.
func (r *Refresher) ResolveChanges(ctx context.Context) (Refreshed, error) {
	var open []state.Pending
	for _, op := range r.Recorded.Pending {
		if op.Type == state.Updating || op.Type == state.Deleting {
			open = append(open, op)
		}
	}
	if r.Taker.Recorder != nil {
		// A run takes over nothing but creates: what is to stay has to begin again.
		for _, op := range open {
			if err := r.Taker.Recorder.Begin(ctx, op); err != nil {
				return Refreshed{Snapshot: r.Recorded}, fmt.Errorf("recording that %s is looked at: %w", op.Resource.URN, err)
			}
		}
	}
	concerned := map[urn.URN]bool{}
	for _, op := range open {
		concerned[op.Resource.URN] = true
	}
	found, err := r.Refresh(ctx, func(res *state.Resource) bool { return concerned[res.URN] })
	if r.Taker.Recorder == nil || err != nil && !stages.IsReported(err) {
		return found, err
	}
	there := map[urn.URN]bool{}
	for _, res := range found.Resources {
		there[res.URN] = true
	}
	for _, op := range open {
		if u := op.Resource.URN; there[u] && !found.Read[u] {
			continue
		}
		if err := r.Taker.Recorder.End(ctx, state.Change{Begun: op.Resource}); err != nil {
			return found, fmt.Errorf("recording that %s of %s is resolved: %w", op.Type, op.Resource.URN, err)
		}
	}
	return found, err
}

// FindCreated looks for what an interrupted create has made: an object whose ID is the name that was made up for it, which is
// in the inputs that were recorded before the provider was called. It returns its ID; or that there is certainly none; or
// neither.
func (r *Recoverer) FindCreated(op state.Pending) (id string, absent bool) {
	res := op.Resource
	if book.HasNoObject(res) {
		return "", true
	}
	names := r.identifyingNames(res)
	if len(names) == 0 {
		return "", false
	}
	p, err := r.Access.ProviderFor(r.Operations, res)
	if err != nil {
		r.Warn(res.URN, "The object cannot be looked for: %w", err)
		return "", false
	}
	for _, n := range names {
		found, err := r.exists(p, res, n)
		switch {
		case err != nil:
			r.Warn(res.URN, "The provider cannot tell whether there is an object with the ID %s: %w", n.value, err)
			return "", false
		case found != "" && n.madeUp:
			return found, false
		case found != "":
			text := fmt.Sprintf("There is an object with the ID %s. Nobody knows whether this create has made it, as its name was not made up; "+
				"if so, adopt it", found)
			r.Diagnose(res.URN, stages.Warning, 0, text, advice.Advice{Action: advice.Adopt, URNs: []urn.URN{res.URN}, ID: found})
			return "", false
		case n.isID:
			return "", true
		}
	}
	return "", false
}

// name is an input that may be the ID of an object.
type name struct {
	property, value string
	isID            bool // objects of this type have it as their ID: so the stack's other ones show
	madeUp          bool // it was made up for this object, so that no other one has it
}

// identifyingNames are the inputs of a resource that may be its ID, the most certain ones first.
func (r *Recoverer) identifyingNames(res *state.Resource) []name {
	isID := map[string]bool{}
	for _, other := range r.Base.Resources {
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

// exists asks the provider for an object by a name; "" means that there is none.
func (r *Recoverer) exists(p providers.Provider, res *state.Resource, n name) (id string, err error) {
	found, err := p.Read(r.Operations, providers.ReadRequest{
		URN: res.URN, Name: res.URN.Name(), Type: res.Type, ID: n.value, Timeout: res.CustomTimeouts.Read,
	})
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
