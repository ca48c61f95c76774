package sluice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/internal/frames"
	"github.com/sluice-iac/sluice/stages"
)

// LevelValues is the level at which [Options.Log] also gets the properties in provider calls. Secrets in them are masked.
const LevelValues = operation.LevelValues

// kind is one kind of operation.
type kind struct {
	name    string // for messages: "update failed"
	dryRun  bool
	mode    stages.Mode
	imports []stages.ImportRequest // nothing but these imports; nil for other operations
	// recovers is true for a refresh of pending operations only.
	recovers bool
}

// hasPlans reports whether the operation can follow or make plans: an update, or the preview of one.
func (k kind) hasPlans() bool { return k.mode == stages.ModeUpdate && k.imports == nil }

// previewWorkers is the number of chains that a preview executes at once. It changes nothing, so --parallel does not bound it.
const previewWorkers = 256

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
	if o.Secrets == nil {
		o.Secrets = &redact.Set{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// operate runs one operation from loading the state to the last event, and writes it into the history of a locked stack.
func (e *Engine) operate(ctx context.Context, k kind) (*Result, error) {
	if err := e.options.validate(k); err != nil {
		return nil, err
	}
	began := time.Now()
	own := *e
	own.session = e.options.Interrupts.begin()
	defer own.session.end()
	result, err := own.traced(ctx, k)
	if s, ok := e.options.State.(Historian); ok && result != nil && !k.dryRun {
		s.Ended(ctx, Ended{Kind: k.name, Began: began, Config: e.options.Config, Changes: result.Changes, Err: err})
	}
	return result, err
}

func (e *Engine) perform(ctx context.Context, k kind) (*Result, error) {
	s, err := e.options.settings(k)
	if err != nil {
		return nil, err
	}
	s.OnInterrupt, s.Stopped = e.session.watch, e.session.isStopped
	own, err := e.callers(k, s.Stages)
	if err != nil {
		return nil, err
	}
	s.Assemble = own.Assemble
	if e.watch != nil {
		s.Stages.Watch = stages.Watch{Queued: e.watch.Queued, Phase: e.watch.Phase}
		s.Calls.DuringWait = e.watch.Waits
	}
	out, err := operation.Perform(ctx, s)
	if err != nil {
		if !s.Stages.ShowSecrets {
			err = s.Secrets.Error(err)
		}
		return nil, operation.WithCause(ctx, err)
	}
	result := &Result{
		Changes: out.Changes, Outputs: out.Outputs, Plan: out.Plan, Resolved: out.Resolved, Kept: out.Kept,
		about: out.About, steps: sync.OnceValue(out.Steps), decided: sync.OnceValue(out.Decided), failures: out.Failures, files: frames.Open(e.options.Root), isSensitive: e.options.Config.isSensitive(),
	}
	if p, ok := e.options.Program.(source.Locator); ok {
		result.locate = p.Locate
	}
	if out.Ended == stages.Succeeded {
		return result, nil
	}
	return result, &FailedError{Operation: k.name, Canceled: out.Ended == stages.Canceled, Cause: cmp.Or(out.Interrupt, e.session.cause()), Err: out.Err}
}

// settings converts the options for package operation.
func (o Options) settings(k kind) (operation.Settings, error) {
	inner, err := o.stageSettings(k)
	s := operation.Settings{
		Name: k.name, Stages: inner, Imports: k.imports, Recovers: k.recovers, Refresh: o.Refresh, RunProgram: o.RunProgram && !k.recovers,
		Program: o.Program, Root: o.Root, Providers: o.Providers, PolicyPacks: o.PolicyPacks,
		State: o.State, Version: ManifestVersion, StackOutputs: o.StackOutputs, StackResources: o.StackResources,
		ResolveCreate: o.ResolveCreate, WithoutFeatures: o.Legacy.withoutFeatures(),
		Messages: func(func(stages.LogMessage)) {}, ShownConfig: o.Config.shown(), Secrets: o.Secrets,
		Log: o.Log,
	}
	if o.Service != nil {
		s.Engine, s.Messages = o.Service, o.Service.Attach
	}
	var invalid error
	s.Calls, invalid = o.calls()
	return s, errors.Join(err, invalid)
}

// stageSettings returns the part of the options that the stages need.
func (o Options) stageSettings(k kind) (stages.Settings, error) {
	plain, secret := o.Config.Values()
	s := stages.Settings{
		Info: stages.RunInfo{
			Organization: o.Organization, Project: o.Project, Stack: o.Stack, Config: plain, ConfigSecretKeys: secret,
			DryRun: k.dryRun, Parallel: o.parallel(),
		},
		Directory: o.Directory, Mode: k.mode, Judges: stages.Judges{Analyzers: o.Analyzers, AnalyzeLimit: o.AnalyzeLimit}, Autonamer: o.Autonamer,
		Pace: stages.Pace{Workers: o.workers(k), Admit: o.Interrupts.admit}, PackageConfig: o.Config.packageInputs, Targeting: o.Targeting, ContinueOnError: o.ContinueOnError,
		IgnoreProtect: o.IgnoreProtect, ShowSecrets: o.ShowSecrets,
		Legacy:  stages.Legacy{Diff: o.Legacy.Diff, RefreshDiff: o.Legacy.RefreshDiff},
		Observe: o.Observe, Now: o.Now, Entropy: o.Entropy,
	}
	if k.hasPlans() {
		s.Plan, s.MakePlan = o.Plan, o.MakePlan
	}
	var err error
	if s.DeniedProviders, err = o.Config.deniedProviders(); err != nil {
		return s, err
	}
	if s.Autonamer == nil {
		s.Autonamer, err = o.autonamer()
	}
	return s, err
}

// workers returns the number of chains that an operation executes at once.
func (o Options) workers(k kind) int {
	if k.dryRun && o.Parallel == 0 {
		return previewWorkers
	}
	return o.parallel()
}

func (o Options) parallel() int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return 4 * runtime.GOMAXPROCS(0)
}
