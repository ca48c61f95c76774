package stages

import (
	"context"
	"crypto/sha256"
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

// Run is one run while it goes on: the parts that its stages work with. Make one with [NewRun] for each run.
type Run struct {
	settings Settings
	*control
	*book
	*access
	*plans
	*taker
	*targets
	*admission
	*analyst
	executor *executor
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
	r := &Run{settings: s, control: newControl(ctx, s.Info, s.Now, s.Observe)}
	extensions := newExtensions(s.Base.Extensions)
	hooks := &hookSet{}
	r.book = newBook(s, newRecord())
	r.access = &access{control: r.control, book: r.book, Registry: s.Registry, extensions: extensions}
	r.plans = newPlans(r.control, r.book, s)
	r.taker = newTaker(r.control, r.book, r.access, r.plans, s, hooks)
	r.targets = &targets{control: r.control, book: r.book}
	r.admission = newAdmission(r.control, r.access, r.taker, hooks, s)
	r.analyst = &analyst{control: r.control, book: r.book, families: r.admission.families, Analyzers: s.Analyzers, AnalyzeLimit: s.AnalyzeLimit, Directory: s.Directory}
	r.executor = newExecutor(r.control, r.book, r.taker, s.Workers)
	return r
}

func (r *Run) checker() *checker {
	return &checker{control: r.control, book: r.book, access: r.access, plans: r.plans, Autonamer: r.settings.Autonamer}
}

func (r *Run) differ() *differ {
	return &differ{
		control: r.control, book: r.book, access: r.access, checker: r.checker(), analyst: r.analyst,
		LegacyDiff: r.settings.LegacyDiff,
	}
}

func (r *Run) reader() *reader {
	return &reader{control: r.control, book: r.book, access: r.access, taker: r.taker, LegacyRefreshDiff: r.settings.LegacyRefreshDiff}
}

func (r *Run) refresher() *refresher {
	return &refresher{control: r.control, book: r.book, reader: r.reader(), targets: r.targets, taker: r.taker, read: map[urn.URN]bool{}}
}

func (r *Run) prober() *prober { return &prober{control: r.control, book: r.book, access: r.access} }

func (r *Run) sweeper() *sweeper {
	return &sweeper{
		control: r.control, book: r.book, access: r.access, plans: r.plans, targets: r.targets, taker: r.taker,
		executor: r.executor, prober: r.prober(), reader: r.reader(),
	}
}

func (r *Run) importRun() *importRun {
	return &importRun{
		control: r.control, book: r.book, access: r.access, taker: r.taker, defaults: r.defaults, executor: r.executor,
		Entropy: r.settings.Entropy, PackageConfig: r.settings.PackageConfig,
	}
}

func (r *Run) recoverer() *recoverer {
	return &recoverer{control: r.control, book: r.book, access: r.access, taker: r.taker, refresher: r.refresher()}
}

// Refresh reads what is recorded from its providers and makes what it finds the base of the run (steps.md 7.1, 7.3). Only
// states for which selected is true are read, all at once; a failure does not stop the others, and what was read is kept.
// It must be called before the program starts.
func (r *Run) Refresh(ctx context.Context, selected func(*state.Resource) bool) error {
	return r.refresher().refresh(ctx, selected)
}

// SettleChanges finds out by reading how updates and deletes ended that an earlier run began and whose end nobody knows
// (state.md 9.4 R-8). What cannot be read stays pending. Interrupted reads and imports have changed nothing and are dropped.
// It must be called before the program starts.
func (r *Run) SettleChanges(ctx context.Context) error { return r.recoverer().settleChanges(ctx) }

// ResolveCreates settles creates that an earlier run began and whose end nobody knows (state.md 9.4 R-6). resolve says what is
// to be done about each; nil, and what it says nothing about, leaves it. An object that cannot be read fails the run, and its
// create stays as well. It must be called before the program starts, and after a refresh.
func (r *Run) ResolveCreates(ctx context.Context, resolve func(state.Pending) CreateResolution) error {
	return r.recoverer().resolveCreates(ctx, resolve)
}

// FindCreated looks for what an interrupted create has made: an object whose ID is the name that was made up for it, which is
// in the inputs that were recorded before the provider was called. It returns its ID; or that there is certainly none; or
// neither.
func (r *Run) FindCreated(op state.Pending) (id string, absent bool) {
	return r.recoverer().findCreated(op)
}

// PlanImports decides what an import has to make, and has the providers that it makes check their configurations. Nothing
// is made or recorded yet, so that what cannot be done at all changes nothing. The requests have passed [CheckImports].
func (r *Run) PlanImports(ctx context.Context, requests []ImportRequest) (*ImportPlan, error) {
	return r.importRun().plan(ctx, requests)
}

// ImportAll takes existing objects under management without a program (steps.md 4.4). What is recorded stays as it is. A
// failed import keeps those below it from being made and nothing else; all failures are recorded. It is called once, after
// [Run.PlanImports].
func (r *Run) ImportAll(ctx context.Context, plan *ImportPlan) error {
	return r.importRun().all(ctx, plan)
}

// EndPhase deletes what the program no longer declares and what replacements left behind (steps.md 5); in a destroy also
// what it does declare. In a refresh it reads what the program does not declare instead (7.4). It is called once, when the
// program has ended and every chain is done. Each delete starts as soon as those of its dependents are done; a failed one
// keeps what it depends on and nothing else.
//
// A target that nothing has turned out to be fails the run, but not before the others have been treated: what they name in
// the program has been (5.1).
func (r *Run) EndPhase(ctx context.Context) error { return r.sweeper().endPhase(ctx) }

// SetRecorder says where the run is recorded. It comes before anything is taken.
func (r *Run) SetRecorder(to state.Recorder) { r.taker.Recorder = to }

// SetAnalyzers says who judges. It comes before the program starts.
func (r *Run) SetAnalyzers(list []Analyzer) { r.analyst.Analyzers = list }

// Analyzers returns those who judge.
func (r *Run) Analyzers() []Analyzer { return r.analyst.Analyzers }

// ShutDown ends everything that still waits for an answer. The run is over.
func (r *Run) ShutDown() {
	r.shutDown()
	r.intake.Close()
}

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
