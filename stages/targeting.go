package stages

import (
	"github.com/sluice-iac/sluice/urn"
)

// Targeting defines which resources an operation may touch (steps.md 6). The zero value selects everything.
type Targeting struct {
	// Targets are the only resources to touch; Excludes are those not to touch. At most one of the two is set.
	Targets, Excludes *urn.PatternSet
	// TargetDependents and ExcludeDependents extend them to what depends on their members.
	TargetDependents, ExcludeDependents bool
	// Replace are resources to replace whether or not they have changed.
	Replace *urn.PatternSet
}

// IsPartial reports whether an operation is not about everything.
func (t Targeting) IsPartial() bool { return t.Targets.IsConstrained() || t.Excludes.IsConstrained() }

// IsImplicit reports whether a resource is part of every operation and makes nothing else part of it (steps.md 6.2).
func IsImplicit(t urn.Type) bool { return t.IsProvider() || t == urn.RootStackType }
