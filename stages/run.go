package stages

import (
	"context"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Settings describe one run: one preview or one update of one stack.
type Settings struct {
	Info      RunInfo
	Directory string // against which relative paths of assets are resolved
	Mode      Mode   // what becomes of what is declared
	// RefreshEach has every recorded resource read when the program registers it (steps.md 7.4).
	RefreshEach bool
	Base        *state.Snapshot
	Recorder    state.Recorder // nil in previews, which record nothing
	Registry    *providers.Registry
	Analyzers   []Analyzer
	// AnalyzeLimit is how many analyzers judge a resource, or the stack, at once; 0 is all.
	AnalyzeLimit int
	Autonamer    Autonamer // nil: providers make up names as they like
	// Workers is how many chains of steps run at once.
	Workers int

	// PackageConfig returns the configuration of a package: the inputs of its default provider.
	PackageConfig func(pkg string) property.Map
	// Packages are those that the program's language host reported (protocol.md 4.5).
	Packages []Package
	// DeniedProviders are the packages whose default provider is disabled; "*" is all (steps.md 1.6).
	DeniedProviders []string
	// Targeting says which resources the operation may touch.
	Targeting Targeting
	// Plan is what the run is held to; nil: it may do what it likes. MakePlan has it make one (see [Run.Planned]).
	Plan     *state.Plan
	MakePlan bool

	ContinueOnError bool
	IgnoreProtect   bool
	ShowSecrets     bool
	// LegacyDiff asks no provider about a resource with unchanged inputs (steps.md 3.8), LegacyRefreshDiff none about what a
	// refresh has found (7.6).
	LegacyDiff, LegacyRefreshDiff bool

	Observe func(Event)
	// Now is the clock by which states are stamped.
	Now func() time.Time
	// Entropy is what random seeds and provider IDs are derived from; the same entropy gives the same ones.
	Entropy []byte
	// MonitorAddress returns the address of a gRPC server that speaks for the run's Monitor.
	MonitorAddress func() (string, error)
}

// Autonamer decides how a resource without a name is named (steps.md 3.5).
type Autonamer interface {
	// Autoname returns nil when the configuration says nothing. random is false when nothing in the name is random, so
	// that two objects of that name cannot exist at once.
	Autoname(u urn.URN, seed []byte) (options *providers.Autonaming, random bool)
}

// Run is one run while it goes on: what the stages share. Make one with [NewRun] for each run.
type Run struct {
	Settings
	base     *base
	names    *names
	outcomes *outcomes
	world    *world
	plans    *plans
	defaults *defaultProviders
	// extensions are the packages that are layered on providers.
	extensions *extensions
	monitor    *monitor
	events     *events
	failures   *failures
	progress   *progress
	record     *record
	executor   *executor
	tokens     tokens
	intake     *await.Mailbox[Submitted]
	halted     *await.Event // fired when no further step may start
	over       *await.Event // fired when the run is completely done
	running    atomic.Int64 // steps under way
	// admission is the context of everything that leads to decisions; it ends when the run halts.
	admission context.Context
	stop      context.CancelCauseFunc
	// operations is the context of provider calls that change something: it outlives the pipeline's, so that what is
	// running when the run stops can finish.
	operations context.Context
	started    time.Time

	// declared are the steps of registrations whose states a destroy is to delete at its end, in the order in which they were
	// decided. Only build writes it, while the pipeline runs.
	declared []*Decision
	// vanished are the recorded URNs that a refresh has not found any more,
	// which only the refresh writes.
	vanished map[urn.URN]bool
	// read tells of the URNs that a refresh has looked at whether all copies could be read.
	read map[urn.URN]bool
	// interruptions are the interrupted creates of earlier runs.
	interruptions *interruptions
}

// NewRun prepares a run. ctx is the context of provider calls; cancelling it abandons them, so it should outlive the
// context that the pipeline runs under.
func NewRun(ctx context.Context, s Settings) *Run {
	if s.Base == nil {
		s.Base = &state.Snapshot{}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.PackageConfig == nil {
		s.PackageConfig = func(string) property.Map { return property.Map{} }
	}
	r := &Run{
		Settings:   s,
		base:       newBase(s.Base.Resources),
		names:      newNames(),
		outcomes:   newOutcomes(),
		world:      newWorld(),
		plans:      newPlans(s.Plan, s.MakePlan),
		events:     &events{observe: s.Observe},
		failures:   &failures{},
		progress:   newProgress(),
		record:     newRecord(),
		intake:     await.NewMailbox[Submitted](),
		halted:     await.NewEvent(),
		over:       await.NewEvent(),
		vanished:   map[urn.URN]bool{},
		read:       map[urn.URN]bool{},
		operations: ctx,
		started:    time.Now(),
	}
	r.admission, r.stop = context.WithCancelCause(ctx)
	r.names.grown = selection{targets: s.Targeting.Targets.Clone(), excludes: s.Targeting.Excludes.Clone()}
	r.world.addViews(r.base.resources)
	r.defaults = newDefaultProviders(r)
	r.extensions = newExtensions(r)
	r.interruptions = newInterruptions(s.Base.Pending, nil, r.base)
	r.monitor = newMonitor(r)
	r.executor = newExecutor(r)
	return r
}

// Monitor is what the run's program talks to.
func (r *Run) Monitor() Monitor { return r.monitor }

// EndOfProgram says that no more registrations will come.
func (r *Run) EndOfProgram() { r.monitor.end() }

// Halt lets no further step start; running ones finish. When none is running, programs get no more answers.
func (r *Run) Halt() {
	r.halted.Fire()
	r.stop(ErrShutDown)
	if r.running.Load() == 0 {
		r.monitor.close(ErrShutDown)
	}
}

// Admission is the context that the pipeline is to run under: it ends when the run halts.
func (r *Run) Admission() context.Context { return r.admission }

// enter counts a step that is about to run; it refuses when the run is halted.
func (r *Run) enter() bool {
	r.running.Add(1)
	if r.halted.Fired() {
		r.leave()
		return false
	}
	return true
}

func (r *Run) leave() {
	if r.running.Add(-1) == 0 && r.halted.Fired() {
		r.monitor.close(ErrShutDown)
	}
}

// ShutDown ends everything that still waits for an answer. The run is over.
func (r *Run) ShutDown() {
	r.halted.Fire()
	r.stop(ErrShutDown)
	r.over.Fire()
	r.intake.Close()
	r.monitor.close(ErrShutDown)
}

// IsHalted tells whether steps may no longer start.
func (r *Run) IsHalted() bool { return r.halted.Fired() }

// Submissions is the source of the pipeline: everything that programs submit, until the program has ended.
func (r *Run) Submissions() pipeline.Flow[Submitted] {
	return pipeline.From("submit", 0, func(ctx context.Context, emit pipeline.Emit[Submitted]) error {
		for {
			s, ok := r.intake.Take(ctx)
			if !ok {
				return nil
			}
			if err := emit(s); err != nil {
				return err
			}
		}
	})
}

// DryRun tells whether the run only predicts.
func (r *Run) DryRun() bool { return r.Info.DryRun }

// derive makes 32 bytes that depend only on the entropy and the given words.
func derive(entropy []byte, words ...string) []byte {
	h := sha256.New()
	h.Write(entropy)
	for _, w := range words {
		h.Write([]byte{0})
		h.Write([]byte(w))
	}
	return h.Sum(nil)
}
