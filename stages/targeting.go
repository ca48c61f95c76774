package stages

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Targeting defines which resources an operation may touch ([steps.md 6]). The zero value selects everything.
//
// [steps.md 6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#6-targets-and-excludes
type Targeting struct {
	// Targets are the only resources to touch; Excludes are those not to touch. At most one of the two is set.
	Targets, Excludes *urn.PatternSet
	// TargetDependents and ExcludeDependents extend them to the dependents of their members.
	TargetDependents, ExcludeDependents bool
	// Replace are resources to replace whether or not they have changed.
	Replace *urn.PatternSet
}

// Bind returns t with each name that exactly one of the URNs has replaced by that URN. The error is a [*state.AmbiguousNameError]
// if several URNs have a name.
func (t Targeting) Bind(among []urn.URN) (Targeting, error) {
	for _, set := range []**urn.PatternSet{&t.Targets, &t.Excludes, &t.Replace} {
		bound, name, choices := (*set).Bind(among)
		if choices != nil {
			return t, &state.AmbiguousNameError{Name: name, URNs: choices}
		}
		*set = bound
	}
	return t, nil
}

// IsPartial reports whether targets or excludes restrict the operation.
func (t Targeting) IsPartial() bool { return t.Targets.IsConstrained() || t.Excludes.IsConstrained() }

// IsImplicit reports whether a resource is part of every operation without making others part of it ([steps.md 6.2]).
//
// [steps.md 6.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#62-inclusion-of-registrations
func IsImplicit(t urn.Type) bool { return t.IsProvider() || t == urn.RootStackType }
