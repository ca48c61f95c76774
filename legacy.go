package sluice

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
}
