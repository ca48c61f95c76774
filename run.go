package sluice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// operation is one of the things that an engine does.
type operation struct {
	name    string // for messages: "update failed"
	dryRun  bool
	mode    stages.Mode
	imports []stages.ImportRequest // nothing but these imports
	// recovers is true for a refresh of nothing but what earlier operations began and did not end.
	recovers bool
}

// isImport tells whether the operation is an import without a program.
func (o operation) isImport() bool { return len(o.imports) > 0 }

// Workers of previews and cancel limits.
const (
	previewWorkers = 256              // a preview changes nothing, so --parallel's caution is not needed
	cancelTimeout  = 30 * time.Second // protocol.md 1.13
	settleTimeout  = 5 * time.Second  // for providers that are still being configured when the run ends
	programGrace   = 10 * time.Second // for a program to end by itself after the run has stopped
)

func (o Options) withDefaults() Options {
	if o.Organization == "" {
		o.Organization = "organization"
	}
	if o.State == nil {
		o.State = &MemoryState{}
	}
	if o.Providers == nil {
		o.Providers = providers.HostFunc(func(_ context.Context, s providers.Spec) (providers.Provider, error) {
			return nil, fmt.Errorf("no provider for package %q: set Options.Providers", s.Package)
		})
	}
	if o.Service != nil && o.EngineAddress == "" {
		o.EngineAddress = o.Service.Address()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// operate runs one operation from loading the state to the last event.
func (e *Engine) operate(ctx context.Context, op operation) (*Result, error) {
	s := &session{engine: e, options: e.options, op: op, began: time.Now()}
	if s.runsProgram() && e.options.Program == nil {
		return nil, errNoProgram
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	runErr := s.run(ctx)
	return s.close(ctx, runErr)
}

// session is one operation under way.
type session struct {
	engine  *Engine
	options Options
	op      operation
	began   time.Time

	// found is the state as it was loaded, base what it was brought up to before anything else; migrated is true when they
	// differ.
	found, base *state.Snapshot
	migrated    bool
	recorder    state.Recorder
	registry    *providers.Registry
	loaded      []*policy.Analyzer // the policy packs
	// releasePolicies lets the end of the caller's context no longer cancel the analyzers; nil when there are none.
	releasePolicies func() bool
	deployment      *standard.Run
	server          lazyServer
	operations      context.Context
	abandon         context.CancelFunc
	background      background
	// interrupted is true when the caller's context ended before the run did.
	interrupted bool
	// failedBefore is set when the providers are asked to abort: whether something had failed by then.
	failedBefore atomic.Pointer[bool]
}

// open loads the state and prepares everything that can fail before anything is done.
func (s *session) open(ctx context.Context) error {
	o := s.options
	if err := s.checkPlan(); err != nil {
		return err
	}
	base, err := o.State.Load(ctx)
	if err != nil {
		return err
	}
	if base == nil {
		base = &state.Snapshot{}
	}
	if err := state.Verify(base); err != nil {
		return err
	}
	entropy := o.Entropy
	if entropy == nil {
		entropy = make([]byte, 32)
		if _, err := rand.Read(entropy); err != nil {
			return err
		}
	}
	ids := 0
	migrated, changed := state.Migrate(base, o.Config.packageInputs, func() string {
		ids++
		return stages.DerivedID(entropy, "migrated", fmt.Sprint(ids))
	})
	s.found, s.base, s.migrated = base, migrated, changed
	if err := s.refuseHooks(); err != nil {
		return err
	}
	packages, err := s.packages(ctx)
	if err != nil {
		return err
	}
	// What is running when the operation is stopped shall finish, so its context survives the caller's.
	s.operations, s.abandon = context.WithCancel(context.WithoutCancel(ctx))
	s.registry = providers.NewRegistry(s.operations, withBuiltin(s), providers.RegistryOptions{
		Warn:       s.warn,
		NewID:      func(u urn.URN) string { return stages.DerivedID(entropy, string(u), "provider") },
		EchoInputs: o.Legacy.ProviderPreview,
	})
	denied, err := o.Config.deniedProviders()
	if err != nil {
		return errors.Join(err, s.registry.Close())
	}
	if o.Autonamer == nil {
		if o.Autonamer, err = o.autonamer(); err != nil {
			return errors.Join(err, s.registry.Close())
		}
	}
	s.server.start = func() (*monitor.Server, error) {
		return monitor.Serve(s.operations, s.deployment.Monitor(), monitor.ProjectRoot(o.Root), monitor.WithViews(s.deployment),
			monitor.Without(o.Legacy.withoutFeatures()...))
	}
	s.deployment = standard.NewRun(s.operations, stages.Settings{
		Info:      s.info(),
		Directory: o.Directory, Mode: s.op.mode, RefreshEach: s.refreshesEach(), Base: s.base, Registry: s.registry, AnalyzeLimit: o.AnalyzeLimit,
		Autonamer: o.Autonamer, Workers: s.workers(), PackageConfig: o.Config.packageInputs, Packages: packages, DeniedProviders: denied,
		Targeting: o.Targeting, ContinueOnError: o.ContinueOnError, IgnoreProtect: o.IgnoreProtect, ShowSecrets: o.ShowSecrets,
		LegacyDiff: o.Legacy.Diff, LegacyRefreshDiff: o.Legacy.RefreshDiff, Observe: o.Observe, Now: o.Now,
		Entropy: entropy, MonitorAddress: s.monitorAddress, Plan: s.plan(), MakePlan: s.makesPlan(),
	})
	return nil
}

// record begins to record. It comes after everything that refuses the operation, which leaves the state untouched.
func (s *session) record(ctx context.Context) (err error) {
	if s.op.dryRun {
		return nil
	}
	if s.recorder, err = s.options.State.Record(ctx, s.found); err != nil {
		return err
	}
	s.deployment.SetRecorder(s.recorder)
	if s.migrated {
		if err := s.recorder.Rebase(ctx, s.base); err != nil {
			return fmt.Errorf("rebasing the deployment: %w", err)
		}
	}
	return nil
}

func (s *session) closeRecorder(ctx context.Context) error {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Close(ctx)
}

func (s *session) parallel() int {
	if s.options.Parallel > 0 {
		return s.options.Parallel
	}
	return 4 * runtime.GOMAXPROCS(0)
}

func (s *session) workers() int {
	if s.op.dryRun && s.options.Parallel == 0 {
		return previewWorkers
	}
	return s.parallel()
}

func (s *session) info() stages.RunInfo {
	plain, secret := s.options.Config.plain()
	return stages.RunInfo{
		Organization: s.options.Organization, Project: s.options.Project, Stack: s.options.Stack, Config: plain, ConfigSecretKeys: secret,
		DryRun: s.op.dryRun, Parallel: s.parallel(),
	}
}

func (s *session) warn(u urn.URN, message string) {
	s.deployment.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, URN: u, Message: message}})
}

// monitorAddress starts the gRPC server for the run's monitor the first time somebody needs it. Programs ask before they
// start, and providers only within a run, so the calls do not overlap with close.
func (s *session) monitorAddress() (string, error) { return s.server.address() }

// run lets the program and the pipeline work until both are done, then the end phase.
func (s *session) run(ctx context.Context) error {
	r := s.deployment
	defer s.options.Service.attach(s.operations, r.Monitor())()
	s.options.Interrupts.watch(r.Halt, s.cancelProviders)
	release := context.AfterFunc(ctx, func() { r.Halt(); s.cancelProviders() })
	defer func() { s.interrupted = !release() && ctx.Err() != nil }()
	r.Emit(stages.Prelude{Operation: s.op.name, IsPreview: s.op.dryRun, Config: s.options.Config.shown()})
	s.warnOfPending()
	s.warnOfOlderPackages(ctx)

	programCtx, endProgram := context.WithCancel(s.operations)
	defer endProgram()
	var program conc.WaitGroup

	var imports *standard.Imports
	err := s.loadPolicies(ctx)
	if err == nil && s.op.isImport() {
		imports, err = r.PlanImports(s.operations, s.op.imports)
	}
	if err == nil {
		err = s.record(ctx)
	}
	if err == nil {
		err = s.refresh()
	}
	if err == nil {
		err = r.CheckReplaceTargets()
	}
	switch {
	case err != nil:
	case imports != nil:
		r.EndOfProgram()
		err = r.ImportAll(s.operations, imports)
	default:
		program.Go(func() { s.runProgram(programCtx, ctx) })
		err = r.Unrecorded(pipeline.Run(r.Admitted(), s.engine.assemble(r), nil))
	}
	if err == nil && imports == nil && (s.runsProgram() || s.op.mode != stages.ModeRefresh) {
		err = r.EndPhase(s.operations)
	}
	if finishErr := r.Finish(err != nil || imports != nil); finishErr != nil && err == nil {
		err = finishErr
	}
	if stages.IsReported(err) {
		err = nil // it has been reported
	}
	r.ShutDown()
	grace := time.AfterFunc(programGrace, endProgram)
	defer grace.Stop()
	program.Wait()
	return err
}

// runProgram runs the program to its end and tells the run. What a program says after an interrupt, of which the end of the
// caller's context is one, is a consequence and not a failure.
func (s *session) runProgram(ctx, caller context.Context) {
	r := s.deployment
	if !s.runsProgram() {
		r.EndOfProgram()
		return
	}
	var err error
	if p := panics.Try(func() {
		err = s.options.Program.Run(ctx, source.Host{
			Monitor: r.Monitor(), MonitorAddress: s.monitorAddress, EngineAddress: s.options.EngineAddress,
		})
	}); p != nil {
		err = p.AsError()
	}
	switch {
	case err == nil:
		r.EndOfProgram()
	case s.options.Interrupts.Stopped(), caller.Err() != nil:
		r.Halt()
	default:
		r.ProgramFailed(err, errors.Is(err, source.ErrReported))
	}
}

// cancelProviders asks the providers to abort; session.close waits for it.
func (s *session) cancelProviders() {
	failed := s.deployment.HasFailed()
	s.failedBefore.CompareAndSwap(nil, &failed)
	s.background.run(func() {
		ctx, cancel := context.WithTimeout(s.operations, cancelTimeout)
		defer cancel()
		if err := s.registry.Cancel(ctx); err != nil {
			s.options.Log.Warn("asking providers to cancel", "error", err)
		}
	})
}
