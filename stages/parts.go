package stages

import (
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// book is what a run knows about states: what is recorded, which names mean what, what was decided about each of them, and
// what has become of it. Each of its parts has a lock of its own.
type book struct {
	*base
	names         *names
	outcomes      *outcomes
	world         *world
	progress      *progress
	record        *record
	interruptions *interruptions

	Mode            Mode // what becomes of what is declared
	Targeting       Targeting
	RefreshEach     bool
	ContinueOnError bool
	IgnoreProtect   bool
	root            urn.URN // of the root stack
	snapshot        *state.Snapshot

	// declared are the steps of registrations whose states a destroy is to delete at its end, in the order in which they were
	// decided. Only build writes it, while the pipeline runs.
	declared []*Decision
	// vanished are the recorded URNs that a refresh has not found any more.
	vanished map[urn.URN]bool
}

func newBook(s Settings, r *record) *book {
	b := &book{
		record: r, Mode: s.Mode, Targeting: s.Targeting, RefreshEach: s.RefreshEach, ContinueOnError: s.ContinueOnError, IgnoreProtect: s.IgnoreProtect,
		root: urn.RootStack(s.Info.Stack, s.Info.Project), vanished: map[urn.URN]bool{},
	}
	b.open(s.Base)
	return b
}

func (b *book) open(s *state.Snapshot) {
	b.snapshot = s
	b.base, b.names, b.outcomes, b.world, b.progress = newBase(s.Resources), newNames(), newOutcomes(), newWorld(), newProgress()
	b.names.grown = selection{targets: b.Targeting.Targets.Clone(), excludes: b.Targeting.Excludes.Clone()}
	b.world.addViews(b.resources)
	b.interruptions = newInterruptions(s.Pending, nil, b.base)
}

// newTaker returns the taker of a run.
func newTaker(c *control, b *book, a *access, p *plans, s Settings, h *hookSet) *taker {
	return &taker{
		control: c, book: b, access: a, plans: p, Recorder: s.Recorder, hooks: h, tokens: &tokens{}, MonitorAddress: s.MonitorAddress,
	}
}

// newAdmission returns the admission of a run, with a monitor.
func newAdmission(c *control, a *access, t *taker, h *hookSet, s Settings) *admission {
	intake := await.NewMailbox[Submitted]()
	ad := &admission{
		control: c, access: a, taker: t, hooks: h, families: newFamilies(), defaults: newDefaultProviders(intake, s), packages: &packages{},
		intake: intake, Directory: s.Directory, MonitorAddress: s.MonitorAddress,
	}
	ad.monitor = newMonitor(ad)
	return ad
}

// access finds the providers of resources, starts them where need be, and asks them for comparisons.
type access struct {
	*control
	*book
	Registry   *providers.Registry
	extensions *extensions
}

// taker takes steps. Nothing else calls Create, Update and Delete.
type taker struct {
	*control
	*book
	*access
	*plans
	Recorder       state.Recorder // nil in previews, which record nothing
	hooks          *hookSet
	tokens         *tokens
	MonitorAddress func() (string, error)
}

// targets refuses names that mean nothing.
type targets struct {
	*control
	*book
}

// namer finds names and recorded states for registrations.
type namer struct {
	*control
	*book
	Registry *providers.Registry
}

// checker has inputs checked.
type checker struct {
	*control
	*book
	*access
	*plans
	Autonamer Autonamer
}

// analyst asks the analyzers.
type analyst struct {
	*control
	*book
	families     *families
	Analyzers    []Analyzer
	AnalyzeLimit int
	Directory    string
}

// differ compares registrations with recorded states.
type differ struct {
	*control
	*book
	*access
	checker    *checker
	analyst    *analyst
	LegacyDiff bool
}

// importer takes existing objects under management that the program names.
type importer struct {
	*control
	*book
	*access
	*plans
	*taker
	*targets
}

// reader reads recorded objects again.
type reader struct {
	*control
	*book
	*access
	*taker
	LegacyRefreshDiff bool
}

// refresher refreshes what is recorded.
type refresher struct {
	*control
	*book
	reader  *reader
	targets *targets
	taker   *taker
	read    map[urn.URN]bool // the URNs that have been looked at: whether all copies could be read
}

// sweeper ends a run: it deletes what the program no longer declares.
type sweeper struct {
	*control
	*book
	*access
	*plans
	*targets
	*taker
	executor *executor
	prober   *prober
	reader   *reader
}

// recoverer finds out about what earlier runs began and did not end.
type recoverer struct {
	*control
	*book
	access    *access
	taker     *taker
	refresher *refresher
}

// importRun takes existing objects under management without a program.
type importRun struct {
	*control
	*book
	*access
	*taker
	defaults      *defaultProviders
	executor      *executor
	Entropy       []byte
	PackageConfig func(pkg string) property.Map
}

// prober asks whether dependents could stay without what they use.
type prober struct {
	*control
	*book
	*access
}

// admission is where programs come in.
type admission struct {
	*control
	*access
	taker    *taker
	hooks    *hookSet
	families *families
	defaults *defaultProviders
	packages *packages
	monitor  *monitor
	intake   *await.Mailbox[Submitted]

	Directory      string
	MonitorAddress func() (string, error)
}
