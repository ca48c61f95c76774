package state

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// MustWrite reports whether a same step that turns old into new has to be written at once ([state.md 3.3], [steps.md 9.10]
// rule 4). Fields that are not compared here (source positions, init errors, ignoreChanges and the like) may wait for
// the next write. If old is nil, new must be written.
//
// [state.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#33-what-may-be-written-later
// [steps.md 9.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#910-recording
func MustWrite(old, new *Resource) bool {
	if old == nil || new == nil {
		return true
	}
	same := old.URN == new.URN && old.Type == new.Type && old.Custom == new.Custom &&
		old.CustomTimeouts.Value() == new.CustomTimeouts.Value() && old.RetainOnDelete == new.RetainOnDelete &&
		old.Provider == new.Provider && old.Parent == new.Parent && old.DeletedWith == new.DeletedWith &&
		slices.Equal(old.ReplaceWith, new.ReplaceWith) && old.Protect == new.Protect &&
		SameURNs(old.Dependencies, new.Dependencies) &&
		SameURNLists(old.PropertyDependencies, new.PropertyDependencies) &&
		sameHooks(old.ResourceHooks, new.ResourceHooks) &&
		property.Identical(old.ReplacementTrigger, new.ReplacementTrigger) &&
		property.IdenticalMaps(old.Inputs, new.Inputs) &&
		property.IdenticalMaps(old.Outputs, new.Outputs)
	return !same
}

// SameURNs reports whether two lists contain the same URNs, in any order and number.
func SameURNs(a, b []urn.URN) bool {
	if slices.Equal(a, b) {
		return true
	}
	return slices.Equal(sortedSet(a), sortedSet(b))
}

func sortedSet(us []urn.URN) []urn.URN {
	return slices.Compact(slices.Sorted(slices.Values(us)))
}

// SameURNLists is [SameURNs] for the lists of each name. It treats a missing name like an empty list.
func SameURNLists(a, b map[string][]urn.URN) bool {
	within := func(a, b map[string][]urn.URN) bool {
		for name, us := range a {
			if !SameURNs(us, b[name]) {
				return false
			}
		}
		return true
	}
	return within(a, b) && within(b, a)
}

func sameHooks(a, b map[string][]string) bool { return maps.EqualFunc(a, b, slices.Equal[[]string]) }
