package operation

import (
	"context"
	"sync/atomic"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/urn"
)

// resolved is an operation that is ready to run its program, or has to be closed because it cannot.
type resolved struct {
	opened   *opened
	packs    *packs
	registry *providers.Registry
	server   *monitor.Server
	record   *record // nil in previews
	run      *standard.Run
	imports  *standard.Imports // nil for operations with a pipeline

	// release detaches the operation from the end of the caller's context. It reports whether that has not yet stopped
	// the operation.
	release func() bool
	// failedBefore is set when the providers are canceled. It reports whether anything had failed by then.
	failedBefore atomic.Pointer[bool]
}

// resolve is the second phase, before the program starts. The result must go through the end and close phases, also with an error.
func resolve(ctx context.Context, o *opened) (*resolved, error) {
	o.settings.Messages(o.events.show)
	o.events.emit(stages.Prelude{Operation: o.settings.Name, IsPreview: o.settings.Stages.Info.DryRun, Config: o.settings.ShownConfig})
	o.warnOfPending()
	o.warnOfOlderPackages(ctx)
	packs, err := o.loadPacks(ctx)
	s := o.prepare(packs)
	s.watch(ctx)
	if err == nil {
		err = caught("preparing", func() error {
			s.registry.StartAhead(o.prepareProviders(s.run.Admitted())...)
			return s.takeStock(ctx)
		})
	}
	return s, err
}

// prepare makes the run, from its final settings.
func (o *opened) prepare(p *packs) *resolved {
	s := &resolved{opened: o, packs: p}
	calls := o.settings.Calls
	calls.Warn = o.events.warn
	calls.NewID = func(u urn.URN) string { return stages.DerivedID(o.entropy, string(u), "provider") }
	calls.Waiting = func(limit string, waiting bool) { o.events.emit(stages.LimitWait{Limit: limit, Waiting: waiting}) }
	s.registry = providers.NewRegistry(o.operations, s.host(), calls)
	settings := o.settings.Stages
	settings.Base, settings.Packages, settings.Entropy, settings.Observe = o.base, o.packages, o.entropy, o.events.emit
	settings.RefreshEach = o.settings.refreshesEach()
	settings.Registry = s.registry
	settings.MonitorAddress = func() (string, error) { return s.server.Address() }
	settings.Judges.Analyzers = p.analyzers
	if !settings.Info.DryRun {
		s.record = &record{}
		settings.Recorder = s.record
	}
	s.run = standard.NewRun(o.operations, settings)
	s.opened.events.stopOnPanic(s.run.Halt)
	s.server = monitor.NewServer(o.operations, s.monitor(), monitor.ProjectRoot(o.settings.Root), monitor.WithViews(s.run),
		monitor.Without(o.settings.WithoutFeatures...))
	o.settings.Messages(func(m stages.LogMessage) { s.run.Monitor().Log(o.operations, m) })
	return s
}

// monitor returns the monitor for the program.
func (s *resolved) monitor() stages.Monitor { return s.opened.events.masks.monitor(s.run.Monitor()) }

// watch makes interrupts and the end of the caller's context stop the run. If the operation was interrupted already,
// the run stops at once. The run is stopped before the analyzers, so that their aborts are no failures.
func (s *resolved) watch(ctx context.Context) {
	halt := func() {
		s.run.Halt()
		s.opened.settings.Log.Debug("the operation was stopped: nothing new begins")
	}
	s.opened.settings.OnInterrupt(halt, s.cancelProviders)
	s.release = context.AfterFunc(ctx, func() { halt(); s.cancelProviders() })
	if s.opened.settings.RunsProgram() {
		s.opened.settings.OnInterrupt(s.cancelAnalyzers, func() {})
		s.packs.releases = append(s.packs.releases, context.AfterFunc(ctx, s.cancelAnalyzers))
	}
}

// takeStock begins to record and brings the base of the run up to date, after all possible refusals of the operation.
// It plans an import before that, so that an impossible import changes nothing.
func (s *resolved) takeStock(ctx context.Context) (err error) {
	if !s.opened.settings.isImport() {
		if err := s.beginRecord(ctx); err != nil {
			return err
		}
		return s.run.Prepare(s.opened.operations, standard.Preparation{Reads: s.opened.settings.reads(), Resolve: s.opened.settings.ResolveCreate})
	}
	if err := s.run.Prepare(s.opened.operations, standard.Preparation{Reads: s.opened.settings.reads()}); err != nil {
		return err
	}
	if s.imports, err = s.run.PlanImports(s.opened.operations, s.opened.settings.Imports); err != nil {
		return err
	}
	return s.beginRecord(ctx)
}

// beginRecord begins to record, unless nothing is recorded.
func (s *resolved) beginRecord(ctx context.Context) error {
	if s.record == nil {
		return nil
	}
	return s.record.open(ctx, s.opened)
}

// cancelProviders calls Cancel of the providers; close waits for it.
func (s *resolved) cancelProviders() {
	failed := s.run.HasFailed()
	s.failedBefore.CompareAndSwap(nil, &failed)
	s.opened.background.run(func() {
		ctx, cancel := context.WithTimeout(s.opened.operations, cancelTimeout)
		defer cancel()
		if err := s.registry.Cancel(ctx); err != nil {
			s.opened.settings.Log.Warn("asking providers to cancel", "error", err)
		}
	})
}
