package stages

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Settings describe one run: one preview or one update of one stack.
type Settings struct {
	Info      RunInfo
	Directory string // against which relative paths of assets are resolved
	Mode      Mode   // what is done with declared resources
	// RefreshEach makes the run read every recorded resource when the program registers it (steps.md 7.4).
	RefreshEach bool
	// RefreshOnly are the recorded resources that a refresh reads, besides those whose providers require it; nil is all.
	RefreshOnly map[urn.URN]bool
	Base        *state.Snapshot
	// Migrated are the resources whose state migrations have changed the base. They must not change it again.
	Migrated map[urn.URN]bool
	Recorder state.Recorder // nil in previews, which record nothing
	Registry *providers.Registry
	Judges
	Autonamer Autonamer // nil: providers choose names
	Pace

	// PackageConfig returns the configuration of a package: the inputs of its default provider.
	PackageConfig func(pkg string) property.Map
	// Packages are those that the program's language host reported (protocol.md 4.5).
	Packages []Package
	// DeniedProviders are the packages whose default provider is disabled; "*" is all (steps.md 1.6).
	DeniedProviders []string
	// Targeting defines which resources the operation may touch.
	Targeting Targeting
	// Plan restricts the run; nil allows everything. MakePlan makes the run return a plan (see Run.Planned of package standard).
	Plan     *state.Plan
	MakePlan bool

	Memory          Memory
	ContinueOnError bool
	IgnoreProtect   bool
	// ReplaceDependsOn makes a delete-before-replace take along the resources that depend on a member of it by dependsOn alone, and not only those
	// that their providers would replace (decision 0246).
	ReplaceDependsOn bool
	ShowSecrets      bool
	Legacy           Legacy

	// Observe is called with each event, from many goroutines; nil discards.
	Observe func(Event)
	Watch   Watch // the functions that measure the run
	// Now is the clock for the times in states.
	Now func() time.Time
	// Entropy is the source of random seeds and provider IDs; the same entropy gives the same values.
	Entropy []byte
	// Seeds returns the random seed with which a resource has to be checked again, nil if any will do. It may be nil.
	Seeds func(u urn.URN) []byte
	// MonitorAddress returns the address of a gRPC server that offers the run's Monitor.
	MonitorAddress func() (string, error)
}

// Memory bounds what a run may add to the memory of the process.
type Memory struct {
	Limit  uint64 // in bytes; 0 is none
	Before uint64 // what the process had in use when the operation began
}

// Pace bounds how fast decisions are executed.
type Pace struct {
	// Workers is the number of chains that run at once.
	Workers int
	// Admit is called before each task begins, and waits while none may begin or until the context ends; nil admits all at once.
	Admit func(context.Context) error
}

// Judges are the analyzers that judge what a program declares.
type Judges struct {
	Analyzers []Analyzer
	// AnalyzeLimit is how many analyzers judge a resource, or the stack, at once; 0 means all.
	AnalyzeLimit int
}

// Watch has functions that measure a run: what it waits for, and its phases. Nil functions are not called; the others must not
// block.
type Watch struct {
	// Queued is called when the number of tasks that wait only for a worker has changed.
	Queued func(tasks int)
	// Phase is called when a phase of the operation begins. The function that it returns is called when the phase ends.
	Phase func(name string) (over func())
}

// Legacy is behaviour of older engines that a run keeps.
type Legacy struct {
	Diff        bool // does not call Diff for a resource with unchanged inputs (steps.md 3.8)
	RefreshDiff bool // does not call Diff for the result of a refresh (steps.md 7.6)
}
