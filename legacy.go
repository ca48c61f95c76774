package sluice

import "github.com/sluice-iac/sluice/source/monitor"

// Legacy brings back behaviour that newer engines have changed, for stacks that rely on it. The zero value is today's.
type Legacy struct {
	// Diff takes a resource whose checked inputs have not changed as unchanged, without asking its provider (steps.md 3.8).
	Diff bool
	// RefreshDiff tells a refreshed resource that has changed from one that has not by its outputs alone, without asking
	// its provider (steps.md 7.6).
	RefreshDiff bool
	// ProviderPreview lets a provider whose configuration is not known in a preview answer with the inputs that it is given
	// (protocol.md 3.2).
	ProviderPreview bool
	// NoResourceReferences tells SDKs that references to resources are not supported: a resource within a value is then its
	// ID, or the URN of a component (protocol.md 4.2).
	NoResourceReferences bool
	// NoOutputValues tells SDKs that outputs within values are not supported: what a value depends on is then known by
	// whole properties only (protocol.md 4.2).
	NoOutputValues bool
}

// withoutFeatures are the features of the monitor that are switched off.
func (l Legacy) withoutFeatures() []monitor.Feature {
	var off []monitor.Feature
	if l.NoResourceReferences {
		off = append(off, monitor.ResourceReferences)
	}
	if l.NoOutputValues {
		off = append(off, monitor.OutputValues)
	}
	return off
}
