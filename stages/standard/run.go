package standard

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/admit"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/sweep"
	"github.com/sluice-iac/sluice/stages/internal/take"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Run is one run while it goes on: the parts that its stages work with. Make one with [NewRun] for each run.
type Run struct {
	settings  stages.Settings
	control   *control.Control
	book      *book.Book
	access    *access.Access
	plans     *plan.Plans
	taker     *take.Taker
	targets   *targeting.Targets
	admission *admit.Admission
	executor  *execute.Executor
}

// NewRun prepares a run. ctx is the context of provider calls; cancelling it abandons them, so it should outlive the
// context that the pipeline runs under.
func NewRun(ctx context.Context, s stages.Settings) *Run {
	if s.Base == nil {
		s.Base = &state.Snapshot{}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.PackageConfig == nil {
		s.PackageConfig = func(string) property.Map { return property.Map{} }
	}
	r := &Run{settings: s, control: control.NewControl(ctx, s.Info, s.Now, s.Observe)}
	hooks := &take.HookSet{}
	r.book = book.NewBook(s, book.NewRecord())
	r.access = &access.Access{Control: r.control, Book: r.book, Registry: s.Registry, Extensions: access.NewExtensions(s.Base.Extensions)}
	r.plans = plan.NewPlans(r.control, r.book, s)
	r.taker = take.NewTaker(r.control, r.book, r.access, r.plans, s, hooks)
	r.targets = &targeting.Targets{Control: r.control, Book: r.book}
	r.admission = admit.NewAdmission(r.control, r.access, r.taker, hooks, s)
	r.executor = execute.NewExecutor(r.control, r.book, r.taker, s.Workers)
	return r
}

// Monitor is what the run's program talks to.
func (r *Run) Monitor() stages.Monitor { return r.admission.Monitor() }

// PublishViews publishes view steps for the call that the token was made for; see [stages.Views].
func (r *Run) PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error {
	return r.taker.PublishViews(ctx, token, steps)
}

// EndOfProgram says that no more registrations will come.
func (r *Run) EndOfProgram() { r.admission.EndOfProgram() }

// ProgramFailed records that the program ended with an error and stops the run. shown is true if the program has said why.
func (r *Run) ProgramFailed(err error, shown bool) { r.control.ProgramFailed(err, shown) }

// Halt lets no further step start; running ones finish. When none is running, programs get no more answers.
func (r *Run) Halt() { r.control.Halt() }

// Admitted is the context that the pipeline is to run under: it ends when the run halts.
func (r *Run) Admitted() context.Context { return r.control.Admitted }

// HasFailed reports whether anything went wrong so far.
func (r *Run) HasFailed() bool { return r.control.HasFailed() }

// Refuse records the error of a stage that a caller put into the pipeline, and returns the error that stops the pipeline.
func (r *Run) Refuse(err error) error { return r.control.Refuse(err) }

// Unrecorded returns the error of a pipeline, nil if the run has been stopped and the error says no more than that: what
// stopped it is recorded, or was somebody's wish.
func (r *Run) Unrecorded(err error) error { return r.control.Unrecorded(err) }

// ShutDown ends everything that still waits for an answer. The run is over.
func (r *Run) ShutDown() {
	r.control.ShutDown()
	r.admission.Close()
}

// RefreshesEach reports whether recorded resources are read again as the program registers them.
func (r *Run) RefreshesEach() bool { return r.book.RefreshEach }

// Submissions is the source of the pipeline: everything that programs submit, until the program has ended.
func (r *Run) Submissions() pipeline.Flow[stages.Submitted] { return r.admission.Submissions() }

// Imports is what an import without a program makes.
type Imports struct{ plan *sweep.ImportPlan }

// PlanImports decides what an import has to make, and has the providers that it makes check their configurations. Nothing
// is made or recorded yet, so that what cannot be done at all changes nothing. The requests have passed
// [stages.CheckImports].
func (r *Run) PlanImports(ctx context.Context, requests []stages.ImportRequest) (*Imports, error) {
	p, err := r.imports().Plan(ctx, requests)
	if err != nil {
		return nil, err
	}
	return &Imports{p}, nil
}

// ImportAll takes existing objects under management without a program (steps.md 4.4). What is recorded stays as it is. A
// failed import keeps those below it from being made and nothing else; all failures are recorded. It is called once, after
// [Run.PlanImports].
func (r *Run) ImportAll(ctx context.Context, i *Imports) error { return r.imports().All(ctx, i.plan) }

// EndPhase deletes what the program no longer declares and what replacements left behind (steps.md 5); in a destroy also
// what it does declare. In a refresh it reads what the program does not declare instead (7.4). It is called once, when the
// program has ended and every chain is done. Each delete starts as soon as those of its dependents are done; a failed one
// keeps what it depends on and nothing else.
//
// A target that nothing has turned out to be fails the run, but not before the others have been treated: what they name in
// the program has been (5.1).
func (r *Run) EndPhase(ctx context.Context) error {
	s := &sweep.Sweeper{
		Control: r.control, Book: r.book, Access: r.access, Plans: r.plans, Targets: r.targets, Taker: r.taker,
		Executor: r.executor, Prober: r.prober(), Reader: r.reader(),
	}
	return s.EndPhase(ctx)
}

// Finish ends a run of which nothing more is to be taken: it applies the root stack's outputs (steps.md 9.7), and after success
// reports what was planned and did not happen (12.5) and lets the analyzers judge the stack as it has become (11.4). failed is
// true when something went wrong that the run has not recorded, or when there was no program.
func (r *Run) Finish(failed bool) error {
	r.taker.ShowProvisional()
	if err := r.taker.FinishOutputs(); err != nil {
		return err
	}
	if !failed {
		r.plans.CheckPlanFulfilled()
		_ = r.analyst().analyzeStack(r.control.Admitted) // what went wrong is recorded
	}
	return nil
}

// Results is what a run has come to once it is over.
type Results struct {
	// Steps are the steps taken, in an order that does not depend on timing: every resource after what it refers to, ties in the
	// order of the recorded state and then of the URNs; the steps of one resource in the order in which they were taken.
	Steps []stages.StepInfo
	// Changes is how many steps there were of each kind that is counted.
	Changes map[stages.Op]int
	// Outputs are the outputs of the root stack after the run, OldOutputs those before it.
	Outputs, OldOutputs property.Map
	// Failures are what went wrong, ordered by URN.
	Failures []stages.Failure
	// Uncertain is true if the outcome of some operation is unknown (steps.md 9.3).
	Uncertain bool
	// Decided is everything that was decided, in the order of the registrations' arrival, then what was decided about the rest.
	Decided []stages.Decided
}

// Results returns what the run has come to. It is called once the run is over.
func (r *Run) Results() Results {
	res := Results{
		Outputs: r.book.StackOutputs(), OldOutputs: r.book.OldStackOutputs(), Failures: r.control.Failures(), Uncertain: r.book.IsUncertain(),
		Decided: r.book.Decided(),
	}
	res.Steps, res.Changes = r.book.Steps()
	return res
}

// Planned returns what the run has planned, by resource; nil if it was not to make a plan. It is called when the run is
// over.
func (r *Run) Planned() map[urn.URN]*state.PlannedResource { return r.plans.Planned() }

// Find finds a resource that was registered or read in this run and whose step is done.
func (r *Run) Find(u urn.URN) (*state.Resource, bool) { return r.book.Lookup(u) }

// ProtectedAndNeeded returns the names of protected resources and of everything that they depend on, their providers and
// parents included, sorted: what a destroy has to leave in order to leave the protected ones (steps.md 6.1). resources are in
// the order of a snapshot.
func ProtectedAndNeeded(resources []*state.Resource) []urn.URN {
	return book.ProtectedAndNeeded(resources)
}
