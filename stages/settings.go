package stages

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
)

// Settings describe one run: one preview or one update of one stack.
type Settings struct {
	Info      RunInfo
	Directory string // against which relative paths of assets are resolved
	Mode      Mode   // what becomes of what is declared
	// RefreshEach makes the run read every recorded resource when the program registers it (steps.md 7.4).
	RefreshEach bool
	Base        *state.Snapshot
	Recorder    state.Recorder // nil in previews, which record nothing
	Registry    *providers.Registry
	Judges
	Autonamer Autonamer // nil: providers generate names as they like
	Pace

	// PackageConfig returns the configuration of a package: the inputs of its default provider.
	PackageConfig func(pkg string) property.Map
	// Packages are those that the program's language host reported (protocol.md 4.5).
	Packages []Package
	// DeniedProviders are the packages whose default provider is disabled; "*" is all (steps.md 1.6).
	DeniedProviders []string
	// Targeting defines which resources the operation may touch.
	Targeting Targeting
	// Plan is what the run is held to; nil allows everything. MakePlan makes it return one (see Run.Planned of package standard).
	Plan     *state.Plan
	MakePlan bool

	ContinueOnError bool
	IgnoreProtect   bool
	ShowSecrets     bool
	Legacy          Legacy

	// Observe is called with each event, from many goroutines; nil discards.
	Observe func(Event)
	Watch   Watch // looks on
	// Now is the clock by which states are stamped.
	Now func() time.Time
	// Entropy is what random seeds and provider IDs are derived from; the same entropy gives the same values.
	Entropy []byte
	// MonitorAddress returns the address of a gRPC server that offers the run's Monitor.
	MonitorAddress func() (string, error)
}

// Pace is how fast decisions are taken.
type Pace struct {
	// Workers is how many chains of steps run at once.
	Workers int
	// Admit is called before each task begins, and waits while none may begin or until the context ends; nil admits all at once.
	Admit func(context.Context) error
}

// Judges are who judges what a program declares.
type Judges struct {
	Analyzers []Analyzer
	// AnalyzeLimit is how many analyzers judge a resource, or the stack, at once; 0 means all.
	AnalyzeLimit int
}

// Watch is told what a run waits for and where it is, by whoever measures it. Functions that are nil are not called; the others must not block.
type Watch struct {
	// Queued is called when the number of tasks that wait for nothing but a worker has changed.
	Queued func(tasks int)
	// Phase is called when a phase of the operation begins, and what it returns when that is over.
	Phase func(name string) (over func())
}

// Legacy is behaviour of older engines that a run keeps.
type Legacy struct {
	Diff        bool // asks no provider about a resource with unchanged inputs (steps.md 3.8)
	RefreshDiff bool // asks no provider about what a refresh has found (steps.md 7.6)
}
