package standard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/endphase"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/imports"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/possible"
	"github.com/sluice-iac/sluice/stages/internal/recovery"
	"github.com/sluice-iac/sluice/stages/internal/refresh"
	"github.com/sluice-iac/sluice/stages/internal/requests"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// Run is one run in progress: the parts for its stages. Call [NewRun] once for each run.
type Run struct {
	settings  stages.Settings
	control   *control.Control
	rooms     *rooms.Rooms
	writers   rooms.Writers // of the rooms; each goes to the constructor of one part
	access    *access.Access
	plans     *plan.Plans
	executor  *step.Executor
	targets   *targeting.Targets
	waves     *closure.Waves
	admission *requests.Admission
	scheduler *execute.Scheduler
	resolved  []stages.Resolution // of interrupted operations, before the program starts
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
	if s.Info.DryRun {
		s.ContinueOnError = true // a preview shows all failures, and not only the first one
	}
	r := &Run{settings: s, control: control.NewControl(ctx, s.Info, s.Now, s.Observe)}
	r.control.Admit = s.Admit
	hooks := &step.HookSet{}
	r.rooms, r.writers = rooms.NewRooms(s)
	r.access = &access.Access{Control: r.control, Rooms: r.rooms, Registry: s.Registry, Extensions: access.NewExtensions(s.Base.Extensions)}
	r.plans = plan.NewPlans(r.control, r.rooms, s)
	r.executor = step.NewExecutor(r.control, r.rooms, r.writers.Steps, r.access, r.plans, s, hooks)
	r.targets = &targeting.Targets{Control: r.control, Rooms: r.rooms}
	r.waves = &closure.Waves{Control: r.control, Rooms: r.rooms}
	r.admission = requests.NewAdmission(r.control, r.writers.Outputs, r.writers.Omissions, r.writers.Migrations, r.access, r.executor.Outputs, hooks, s)
	r.scheduler = execute.NewScheduler(r.control, r.rooms, r.writers.Over, r.executor, s.Workers, s.Watch.Queued)
	return r
}

// Monitor returns the monitor that the run's program calls.
func (r *Run) Monitor() stages.Monitor { return r.admission.Monitor() }

// PublishViews publishes view steps for the call that the token was made for; see [stages.Views].
func (r *Run) PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error {
	return r.executor.Views.Publish(ctx, token, steps)
}

// EndOfProgram records that no more registrations will come.
func (r *Run) EndOfProgram() { r.admission.EndOfProgram() }

// ProgramFailed records that the program ended with an error. An update stops. A preview still shows all resources that the program has registered
// before, and stops after that. shown is true if the program has shown the error.
func (r *Run) ProgramFailed(err error, shown bool) {
	r.control.ProgramFailed(err, shown)
	r.admission.EndOfProgram()
}

// HaltIfProgramFailed stops the run if the program has failed. It is called when all registrations are over.
func (r *Run) HaltIfProgramFailed() {
	if r.control.HasProgramFailed() {
		r.control.Halt()
	}
}

// JudgeProgram records that the program ended because the run was over, unless another failure explains it.
func (r *Run) JudgeProgram() { r.control.JudgeProgram() }

// Fail shows and records a failure of the operation as a whole. It does not stop the run, and may be called when the run
// is over.
func (r *Run) Fail(err error) { r.control.Fail(stages.EndPhaseSeq, "", 0, err) }

// Halt prevents further steps; running ones finish. When none is running, programs get no more answers.
func (r *Run) Halt() { r.control.Halt() }

// Admitted returns the context for the pipeline: it ends when the run halts.
func (r *Run) Admitted() context.Context { return r.control.Admitted }

// HasFailed reports whether anything has failed so far.
func (r *Run) HasFailed() bool { return r.control.HasFailed() }

// Refuse records the error of a stage that a caller put into the pipeline, and returns the error that stops the pipeline. If
// mayGoOn is true, it returns nil for a refusal in a preview: the item goes on, so that all refusals are shown.
func (r *Run) Refuse(err error, mayGoOn bool) error { return r.control.Refuse(err, mayGoOn) }

// CheckReferences returns an error for a registration that a stage in the slot Located has changed, if its state could not be recorded because of what
// it refers to: itself, or a resource that is neither recorded nor registered before it.
func (r *Run) CheckReferences(l stages.Located) error { return r.rooms.CheckReferences(l) }

// Diagnose shows a message at a resource, or about the operation if the name is "".
func (r *Run) Diagnose(at urn.URN, s stages.Severity, text string) {
	r.control.Diagnose(at, s, 0, text)
}

// Unrecorded returns the part of a pipeline's error that the run has not recorded. It leaves out that a run was stopped:
// the reason is recorded, or was an interrupt.
func (r *Run) Unrecorded(err error) error { return r.control.Unrecorded(err) }

// ShutDown rejects all requests that still wait for an answer. It is called when the run is over.
func (r *Run) ShutDown() {
	r.control.ShutDown()
	r.admission.Close()
}

// RefreshesEach reports whether recorded resources are read again as the program registers them.
func (r *Run) RefreshesEach() bool { return r.rooms.RefreshEach }

// Submissions returns the source of the pipeline: everything that programs submit, until the program has ended.
func (r *Run) Submissions() pipeline.Flow[stages.Submitted] { return r.admission.Submissions() }

// Imports is the plan of an import without a program.
type Imports struct{ plan *imports.ImportPlan }

// PlanImports decides which resources and providers an import makes, and checks the configurations of the new providers. It creates
// and records nothing, so that an impossible import changes nothing. The requests have passed [stages.CheckImports].
func (r *Run) PlanImports(ctx context.Context, requests []stages.ImportRequest) (*Imports, error) {
	p, err := r.imports().Plan(ctx, requests)
	if err != nil {
		return nil, err
	}
	return &Imports{p}, nil
}

// ImportAll imports existing objects without a program ([steps.md 4.4]). It does not change recorded states. If an import fails, only
// its children are not imported; all failures are recorded. It is called once, after [Run.PlanImports].
//
// [steps.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#44-the-import-command
func (r *Run) ImportAll(ctx context.Context, i *Imports) error { return r.imports().All(ctx, i.plan) }

// EndPhase deletes the resources that the program no longer declares and the old copies that replacements left behind ([steps.md 5]).
// In a destroy it also deletes declared resources. In a refresh it reads undeclared resources instead (7.4). It is called once,
// when the program has ended and every chain is done. Each delete starts as soon as those of its dependents are done. A failed
// delete keeps only the dependencies of its resource.
//
// A target that names no resource fails the run, but only after the other targets have been handled (5.1).
//
// [steps.md 5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#5-the-end-phase
func (r *Run) EndPhase(ctx context.Context, a Assembly) error {
	if err := r.waves.Show(); err != nil {
		return err
	}
	s := &endphase.Phase{
		Control: r.control, Rooms: r.rooms, Decisions: r.writers.Decisions, Access: r.access, Plans: r.plans, Targets: r.targets,
		Scheduler: r.scheduler, Prober: r.prober(), Reader: r.reader(), Deleting: a.Deleting, Drain: a.Drain,
	}
	return s.Run(ctx)
}

// Finish ends a run whose steps are over. It applies the root stack's outputs ([steps.md 9.7]). After success it reports planned
// steps that did not happen (12.5) and lets the analyzers judge the resulting stack (11.4). failed is true after a failure that the
// run has not recorded, or if there was no program.
//
// [steps.md 9.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#97-registerresourceoutputs
func (r *Run) Finish(failed bool) error {
	if !r.rooms.IsOpen() {
		r.writers.Base.Open(r.asRecorded()) // the run was refused before it began
	}
	if err := r.waves.Show(); err != nil {
		return err
	}
	r.executor.Reporter.ShowProvisional()
	if err := r.executor.Outputs.Finish(); err != nil {
		return err
	}
	if !failed {
		r.plans.CheckPlanFulfilled()
		_ = r.analyst().analyzeStack(r.control.Admitted) // its failures are recorded
	}
	return nil
}

// Migrations returns the changes that state migrations of the program make. The run has ended because of them, and the operation has to begin again
// with the changed state. There are none if something has failed.
func (r *Run) Migrations() []*migration.Migration {
	if !r.control.Yields() || !r.control.DryRun() && r.HasFailed() {
		return nil
	}
	return r.rooms.Migrations.All()
}

// Yields reports whether the run has ended because state migrations have changed the recorded state.
func (r *Run) Yields() bool { return r.control.Yields() }

// Base returns the recorded state that the run starts from, brought up to date.
func (r *Run) Base() *state.Snapshot {
	s := *r.settings.Base
	if r.rooms.IsOpen() {
		s.Resources, s.Pending = r.rooms.Base.Resources, r.rooms.Base.Pending
	}
	return &s
}

// Results is the result of a run.
type Results struct {
	// Steps are the executed steps, in an order that does not depend on timing. Every resource comes after those that it refers to;
	// ties are in the order of the recorded state and then of the URNs. The steps of one resource are in the order in which they
	// were executed. Each call sorts them.
	Steps func() []stages.StepInfo
	// Changes counts the steps of each kind that is counted. Possible counts those that are only possible; it is nil if there are
	// none.
	Changes, Possible map[stages.Op]int
	// Outputs are the outputs of the root stack after the run, OldOutputs those before it.
	Outputs, OldOutputs property.Map
	// Failures are the failures of the run, ordered by URN.
	Failures []stages.Failure
	// Uncertain is true if the outcome of some operation is unknown (steps.md 9.3).
	Uncertain bool
	// Lost are the resources with an uncertain operation whose provider has not answered, sorted.
	Lost []urn.URN
	// Kept are the recorded resources that the program has not declared and that stay, because something failed: sorted, without
	// default providers. The next update that does not fail deletes them unless the program declares them then.
	Kept []urn.URN
	// Decided holds all decisions: first those about registrations in the order of their arrival, then those about the
	// rest. Each call sorts them.
	Decided func() []stages.Decided
	// Resolved has the resolutions of operations that earlier runs began and did not end, from before the program started.
	Resolved []stages.Resolution
}

// Results returns the result of the run. It is called once the run is over.
func (r *Run) Results() Results {
	sum := rooms.Summarize(r.rooms)
	res := Results{
		Outputs: sum.StackOutputs(), OldOutputs: sum.OldStackOutputs(), Failures: r.control.Failures(), Uncertain: r.rooms.Outcomes.AreUncertain(),
		Lost: r.rooms.Outcomes.Lost(), Kept: sum.Kept(), Steps: sum.Steps, Decided: sum.Decided,
	}
	res.Resolved = withCauses(r.resolved, res.Failures)
	res.Changes, res.Possible = sum.Counts()
	return res
}

// withCauses adds the errors of reading the objects of interrupted updates and deletes.
func withCauses(all []stages.Resolution, failures []stages.Failure) []stages.Resolution {
	for i, is := range all {
		if is.Outcome != stages.Unresolved || is.Type == state.Creating {
			continue
		}
		at := slices.IndexFunc(failures, func(f stages.Failure) bool { return f.URN == is.Resource.URN })
		if at >= 0 {
			all[i].Why = fmt.Sprintf("%s: %v", is.Why, failures[at].Err)
		}
	}
	return all
}

// Planned returns the plan of the run, by resource; nil if it was not to make one. It is called when the run is over.
func (r *Run) Planned() map[urn.URN]*state.PlannedResource { return r.plans.Planned() }

// Unwritten returns the objects that were made and whose record could not be written at once, by URN. Closing the recorder may
// write it after all.
func (r *Run) Unwritten() []*state.Resource { return r.rooms.Results.Unwritten() }

// Find returns a resource that was registered or read in this run and whose step is done.
func (r *Run) Find(u urn.URN) (*state.Resource, bool) { return r.rooms.Results.Lookup(u) }

// newBuilder returns the builder of a run. It must be called after the phase that may change the base.
func newBuilder(
	c *control.Control, b *rooms.Rooms, w *rooms.DecisionsWriter, passes *rooms.ProgressWriter, p *plan.Plans, t *targeting.Targets, waves *closure.Waves,
) *builder {
	carrier := &carrier{control: c, rooms: b, decisions: w, carried: map[graph.ID]bool{}}
	history := &history{rooms: b}
	return &builder{
		control: c, rooms: b, decisions: w, passes: passes, plans: p, targets: t,
		parked: map[int][]stages.Diffed{}, possible: possible.NewChanges(b, w, c.DryRun()),
		carrier: carrier, history: history,
		closures: &closures{
			control: c, rooms: b, decisions: w, plans: p, waves: waves, history: history, carrier: carrier, roots: map[int]*closure.Root{},
		},
		circles:   &circles{control: c, rooms: b, carrier: carrier, decided: map[urn.URN]*state.Resource{}},
		unmanaged: &unmanaged{control: c, rooms: b, decisions: w, carrier: carrier},
	}
}

// Prepare brings the recorded state up to date before the program starts, and makes the base of the run from it. It reads all
// states at once. A failure does not stop the others, and the results are recorded and kept. Prepare refuses targets that do not
// exist as far as that is known without the program. It is called once, after all checks that can refuse the operation.
func (r *Run) Prepare(ctx context.Context, p Preparation) error {
	now := r.asRecorded()
	if p.Reads == ReadMarked && !slices.ContainsFunc(now.Snapshot.Resources, asksToBeRead) {
		p.Reads = ReadNothing
	}
	var err error
	if p.Reads != ReadNothing || p.Resolve != nil && slices.ContainsFunc(now.Snapshot.Pending, state.Pending.IsInterruptedCreate) {
		now, err = r.bringUpToDate(ctx, p)
		r.writers.Base.Open(now)
	} else {
		r.writers.Base.Open(now)
		err = checkTargets(r.targets, r.settings.Mode)
	}
	if err != nil {
		return err
	}
	return r.targets.CheckReplaceTargets()
}

func (r *Run) asRecorded() rooms.Recorded { return rooms.Recorded{Snapshot: r.settings.Base} }

// asksToBeRead reports whether a provider requires that the state is read before every update (steps.md 3.15).
func asksToBeRead(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }

// checkTargets refuses targets that are not recorded, for operations on recorded resources only.
func checkTargets(t *targeting.Targets, mode stages.Mode) error {
	if mode == stages.ModeUpdate {
		return nil
	}
	return t.CheckTargets()
}

// bringUpToDate returns the recorded state after reading and resolving, also together with an error.
func (r *Run) bringUpToDate(ctx context.Context, p Preparation) (now rooms.Recorded, err error) {
	now = r.asRecorded()
	d := r.draftOf(now.Snapshot)
	if err := checkTargets(d.targets, r.settings.Mode); err != nil {
		return now, err
	}
	found, err := d.read(ctx, p.Reads)
	now.Snapshot, now.Vanished, r.resolved = found.Snapshot, found.Vanished, found.Changes
	if err != nil {
		return now, err
	}
	resolve, finds := p.Resolve, p.Reads == ReadInterrupted
	if resolve == nil && !finds {
		return now, nil
	}
	if found.Snapshot != d.recorded {
		d = r.draftOf(found.Snapshot)
	}
	answer := d.answer
	if finds {
		answer = d.answerOrFind
	}
	out, err := d.recoverer().ResolveCreates(ctx, func(op state.Pending) recovery.Answer { return answer(resolve, op) })
	now.Snapshot, now.Again, r.resolved = out.Snapshot, out.Again, append(r.resolved, out.Creates...)
	return now, err
}

func (r *Run) draftOf(s *state.Snapshot) *draft {
	b, w := rooms.NewDraft(r.settings, r.rooms.Outcomes, r.writers.Steps.Outcomes)
	w.Base.Open(rooms.Recorded{Snapshot: s})
	a := &access.Access{Control: r.control, Rooms: b, Registry: r.settings.Registry, Extensions: r.access.Extensions}
	return &draft{
		settings: r.settings, control: r.control, rooms: b, access: a, recorded: s,
		executor: r.executor.On(b, w.Steps, a, plan.NewPlans(r.control, b, r.settings)),
		targets:  &targeting.Targets{Control: r.control, Rooms: b},
	}
}

// registerBuffer is the number of goals that may wait for their turn without a goroutine each. Programs declare thousands at once,
// and a waiting goal takes a few words where a goroutine takes kilobytes.
const registerBuffer = 8192

// registerStage returns the stage that completes a registration into a goal: validation, inheritance, transforms and the
// choice of a provider (steps.md 1.2). A remote component ends here: its provider constructs it.
//
// The stage calls programs and providers that call back, so each input has a goroutine of its own. Requests with an order leave the
// stage in that order.
func registerStage(r *requests.Admission) pipeline.Stage[stages.Submitted, stages.Registered] {
	return pipeline.Stage[stages.Submitted, stages.Registered]{
		Name:    "register",
		Workers: pipeline.Unbounded,
		Buffer:  registerBuffer,
		Run: func(ctx context.Context, s stages.Submitted, emit pipeline.Emit[stages.Registered]) error {
			defer s.Turn.End(ctx)
			switch {
			case s.Internal != nil:
				return emit(stages.Registered{PendingReply: s.PendingReply, Goal: s.Internal, Internal: true})
			case s.Read != nil:
				goal, err := r.CompleteRead(ctx, s)
				if err != nil {
					s.Reject(err)
					return nil
				}
				if err := s.Turn.Wait(ctx); err != nil {
					return err
				}
				return emit(stages.Registered{PendingReply: s.PendingReply, Read: goal})
			}
			c := requests.Completion{Admission: r, Req: s.Register, PendingReply: s.PendingReply}
			goal, err := c.Complete(ctx)
			if err != nil {
				// The program has to handle a malformed request; it does not stop the run.
				s.Reject(err)
				return nil
			}
			if ended, err := c.Migrate(ctx, goal); ended || err != nil {
				return err
			}
			if c.IsConstructed(goal) {
				s.Turn.End(ctx) // its provider registers it, and everything in it
				return c.Construct(ctx, goal)
			}
			if err := s.Turn.Wait(ctx); err != nil {
				return err
			}
			return emit(stages.Registered{PendingReply: s.PendingReply, Goal: goal})
		},
	}
}

// Stages returns the stages of the run. They may be used once. judged is true if stages of the caller see inputs between Check and build. Like the
// analyzers, they then get only inputs that count.
func (r *Run) Stages(judged bool) Stages {
	judge := r.analyst()
	checks := &checker{
		control: r.control, rooms: r.rooms, access: r.access, plans: r.plans, autonamer: r.settings.Autonamer, judged: judged || len(r.settings.Analyzers) > 0,
	}
	compares := &differ{
		control: r.control, rooms: r.rooms, access: r.access, checker: checks, analyst: judge, legacyDiff: r.settings.Legacy.Diff,
	}
	takesOver := &importer{rooms: r.rooms, access: r.access, plans: r.plans, executor: r.executor, targets: r.targets}
	return Stages{
		Register: registerStage(r.admission),
		Lookup:   (&namer{control: r.control, names: r.writers.Names, registry: r.access.Registry}).stage(),
		Refresh:  (&rereader{reader: r.reader(), passes: r.writers.Reread}).stage(),
		Import:   takesOver.stage(),
		Check:    checks.stage(),
		Analyze:  judge.stage(),
		Diff:     compares.stage(),
		Build:    newBuilder(r.control, r.rooms, r.writers.Decisions, r.writers.Decided, r.plans, r.targets, r.waves).stage(&questioner{prober: r.prober(), differ: compares}),
		Execute:  r.scheduler.Actor(),
	}
}

func (r *Run) analyst() *analyst {
	return &analyst{
		control: r.control, rooms: r.rooms, families: r.admission.Families,
		analyzers: r.settings.Analyzers, limit: r.settings.AnalyzeLimit, directory: r.settings.Directory,
	}
}

func (r *Run) prober() *closure.Prober {
	return &closure.Prober{Rooms: r.rooms, Access: r.access}
}

func (r *Run) reader() *refresh.Reader {
	return &refresh.Reader{
		Control: r.control, Rooms: r.rooms, Access: r.access, Reporter: r.executor.Reporter, Views: r.executor.Views,
		LegacyRefreshDiff: r.settings.Legacy.RefreshDiff,
	}
}

func (r *Run) imports() *imports.ImportRun {
	return &imports.ImportRun{
		Control: r.control, Rooms: r.rooms, Access: r.access, Defaults: r.admission.Defaults, Scheduler: r.scheduler,
		Entropy: r.settings.Entropy, PackageConfig: r.settings.PackageConfig,
	}
}

// ProtectedAndNeeded returns the names of protected resources and of everything that they depend on, sorted. Providers and parents
// are included. A destroy must leave these to keep the protected resources ([steps.md 6.1]). resources are in the order of a
// snapshot.
//
// [steps.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#61-sets
func ProtectedAndNeeded(resources []*state.Resource) []urn.URN {
	return rooms.ProtectedAndNeeded(resources)
}

// DestroyWaves returns the states that a destroy of the whole stack would delete, in its deletion waves ([steps.md 5.3]).
// resources are in the order of a snapshot.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
func DestroyWaves(resources []*state.Resource) ([][]*state.Resource, error) {
	return closure.DestroyWaves(resources)
}
