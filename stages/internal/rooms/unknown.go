package rooms

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// UnknownInput returns why the inputs of a registration are not known well enough, nil if they are. In a preview only unavailable
// values count: other unknown values will be known in the update.
func UnknownInput(rooms *Rooms, l stages.Located, inputs property.Map, preview bool) *stages.UnknownInputError {
	if preview && !inputs.HasUnavailable() {
		return nil
	}
	at, v, found := inputs.FindUnknown()
	if preview {
		at, v, found = inputs.FindUnavailable()
	}
	if !found {
		return nil
	}
	e := &stages.UnknownInputError{URN: l.URN, Property: at}
	if e.Why, found = v.IsUnavailable(); found {
		return e
	}
	from := sourcesOf(l, at[0].Key)
	for _, u := range slices.Sorted(slices.Values(from)) {
		because := whyUnknown(rooms, u)
		if e.From == "" || because != stages.UnknownSource && e.Because == stages.UnknownSource {
			e.From, e.Because = u, because
		}
	}
	if e.Because == stages.SourceNotCreated {
		e.Missing = rooms.Decisions.MissingFor(&state.Resource{Dependencies: []urn.URN{e.From}})
	}
	return e
}

// sourcesOf returns the resources that the value of an input comes from, as far as the program reports them.
func sourcesOf(l stages.Located, input string) []urn.URN {
	if l.Read != nil {
		return l.Read.Dependencies
	}
	if from := l.Goal.PropertyDependencies[input]; len(from) > 0 {
		return from
	}
	return l.Goal.Dependencies
}

// whyUnknown returns why an output of a resource that the program has registered or read before may be unknown.
func whyUnknown(rooms *Rooms, u urn.URN) stages.UnknownBecause {
	if rooms.Decisions.Has(u, SkippedCreate) {
		return stages.SourceNotCreated
	}
	if _, failed := rooms.Failures.Of(u); failed {
		return stages.SourceFailed
	}
	if made, ok := rooms.Results.Lookup(u); ok {
		if _, _, found := made.Outputs.FindUnknown(); found {
			return stages.UnknownOutputs
		}
	}
	return stages.UnknownSource
}

// KnownOutputs returns outputs as they may be recorded. An output that is unknown, in whole or in part, keeps its last known value,
// or is left out if it has none. It returns the names of both. References to resources that do not exist after the run are unknown, too: that to a
// component has no ID that shows it.
func KnownOutputs(rooms *Rooms, outputs, last property.Map) (known property.Map, kept, dropped []string) {
	return outputs.ReplaceReferences(func(ref property.Reference) (property.Value, bool) {
		return property.Computed(), rooms.Decisions.Has(ref.URN, SkippedCreate) || rooms.isUnmade(ref.URN)
	}).KnownOr(last)
}
