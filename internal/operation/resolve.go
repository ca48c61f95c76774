package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/builtin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// resolved is an operation that is ready to run its program, or has to be closed because it cannot.
type resolved struct {
	opened *opened
	// Those of this attempt, for interrupts: they may come when the operation has begun again with others.
	operations context.Context
	background *background

	packs    *packs
	registry *providers.Registry
	server   source.RunningService
	record   *record // nil in previews
	run      *standard.Run
	transit  *transit
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
	if o.again == nil {
		o.events.emit(stages.Prelude{Operation: o.settings.Name, IsPreview: o.settings.Stages.Info.DryRun, Config: o.settings.ShownConfig})
		o.warnOfPending()
		o.warnOfOlderPackages(ctx)
	}
	packs, err := o.loadPacks(ctx)
	err = errors.Join(o.again.failure(), err)
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

// monitor returns the monitor for the program.
func (s *resolved) monitor() stages.Monitor {
	refuse := func(err error) error {
		s.run.Fail(err)
		s.run.Halt()
		return stages.ErrShutDown
	}
	return s.transit.monitor(s.opened.events.masks.monitor(s.run.Monitor()), s.opened.settings.Stages.Info.DryRun, refuse)
}

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
		return s.run.Prepare(s.opened.operations, s.opened.again.preparation(&s.opened.settings))
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
	s.background.run(func() {
		ctx, cancel := context.WithTimeout(s.operations, cancelTimeout)
		defer cancel()
		if err := s.registry.Cancel(ctx); err != nil {
			s.opened.settings.Log.Warn("asking providers to cancel", "error", err)
		}
	})
}

// closeAll closes the record and ends everything that runs. It returns the errors that make the operation fail.
func (s *resolved) closeAll(ctx context.Context, e ended) (errs []error) {
	if err := caught("closing the record", func() error { return s.record.close(ctx) }); err != nil {
		errs = append(errs, fmt.Errorf("writing the state: %w", err))
	}
	if err := s.opened.events.failure(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, s.lacking(ctx)...)
	if err := s.server.Close(); err != nil {
		s.opened.settings.Log.Warn("closing the monitor", "error", err)
	}
	if !s.isInterrupted(e) && !s.run.Yields() {
		configured, done := context.WithTimeout(s.opened.operations, configureTimeout)
		s.registry.WaitConfigured(configured)
		done()
	}
	if err := s.registry.Close(); err != nil {
		s.opened.settings.Log.Warn("closing providers", "error", err)
	}
	s.packs.close(s.opened.settings.Log)
	s.background.end()
	s.opened.abandon()
	return errs
}

func (s *resolved) isInterrupted(e ended) bool {
	return s.opened.settings.Stopped() || e.interrupt != nil
}

// result returns how the operation has ended, from the failures of its run. whole is false if a failure belongs to the
// operation as a whole; an interrupt explains no such failure.
func (s *resolved) result(failures []stages.Failure, whole bool, e ended) (stages.RunResult, *multierror.Error) {
	var all *multierror.Error
	for _, f := range failures {
		all = multierror.Append(all, f)
	}
	switch {
	case whole && (all == nil || s.failedByAborting()) && s.isInterrupted(e):
		return stages.Canceled, all
	case all == nil:
		return stages.Succeeded, nil
	default:
		return stages.Failed, all
	}
}

// failedByAborting reports whether there were no failures before the providers were canceled. Errors of aborted calls
// are then expected, and are no failures of the operation.
func (s *resolved) failedByAborting() bool {
	before := s.failedBefore.Load()
	return before != nil && !*before
}

func (s *resolved) summary(o *Outcome) stages.Summary {
	out := stages.Summary{
		IsPreview: s.opened.settings.Stages.Info.DryRun, MaybeCorrupt: o.Results.Uncertain, Lost: o.Results.Lost, Kept: o.Results.Kept, Duration: time.Since(s.opened.began), Changes: o.Results.Changes,
		Possible: o.Results.Possible, Result: o.Ended, Outputs: o.Results.Outputs, OldOutputs: o.Results.OldOutputs, LimitWaits: s.registry.LimitWaits(),
	}
	for _, a := range s.packs.analyzers {
		out.Policies = append(out.Policies, a.Info())
	}
	return out
}

func (s *resolved) madePlan() *state.Plan {
	if !s.opened.settings.Stages.MakePlan {
		return nil
	}
	return &state.Plan{
		Manifest:  state.Manifest{Time: s.opened.settings.Stages.Now(), Magic: state.Magic(s.opened.settings.Version), Version: s.opened.settings.Version},
		Resources: s.run.Planned(),
	}
}

// about describes the operation. A preview has the description of the previewed operation.
func (s *resolved) about(ended stages.RunResult) why.About {
	info := s.opened.settings.Stages.Info
	about := why.About{
		Operation: s.opened.settings.Name, Preview: info.DryRun, Project: info.Project, Stack: info.Stack,
		Began: s.opened.began.UTC(), Ended: time.Now().UTC(), Result: ended,
	}
	if info.DryRun {
		switch s.opened.settings.Stages.Mode {
		case stages.ModeDestroy:
			about.Operation = "destroy"
		case stages.ModeRefresh:
			about.Operation = "refresh"
		default:
			about.Operation = "update"
		}
	}
	return about
}

// host returns a host that serves the package "pulumi" itself, and everything else through the caller's host, which may evaluate components.
func (s *resolved) host() providers.Host {
	o := builtin.Options{
		StackOutputs: s.stackOutputs(),
		Warn:         s.opened.events.warn,
		Resource: func(u urn.URN) (builtin.Resource, bool) {
			r, ok := s.run.Find(u)
			if !ok {
				return builtin.Resource{}, false
			}
			return builtinResource(r), true
		},
	}
	if s.opened.settings.StackResources != nil {
		o.StackResources = func(ctx context.Context, name string) ([]builtin.Resource, error) {
			all, err := s.opened.settings.StackResources(ctx, name)
			out := make([]builtin.Resource, len(all))
			for i, r := range all {
				out[i] = builtinResource(r)
			}
			return out, err
		}
	}
	next := s.opened.settings.Providers
	if c, evaluates := next.(source.ComponentServer); evaluates {
		next = c.ServeComponents(next, source.Project{Directory: s.opened.settings.Stages.Directory, Root: s.opened.settings.Root}, s.monitor)
	}
	return s.opened.events.masks.host(s.transit.host(builtin.Host(o, next)), s.opened.settings.Log)
}

// stackOutputs returns a function that reads the outputs of other stacks. In a preview, outputs that only an operation produces are
// unknown. In an update, nothing can be made from unknown outputs.
func (s *resolved) stackOutputs() func(context.Context, string) (property.Map, error) {
	if s.opened.settings.StackOutputs == nil || s.opened.settings.Stages.Info.DryRun {
		return s.opened.settings.StackOutputs
	}
	return func(ctx context.Context, name string) (property.Map, error) {
		outputs, err := s.opened.settings.StackOutputs(ctx, name)
		if err != nil || outputs.IsKnown() {
			return outputs, err
		}
		all := outputs.Mutable()
		for output, v := range all {
			all[output] = v.ReplaceUnknowns(func() property.Value {
				return property.Unavailable(fmt.Sprintf("the output %q of the stack %s is not known: the state has only the mark of an unknown value; "+
					"update that stack", output, name))
			})
		}
		return property.NewMap(all), nil
	}
}

func builtinResource(r *state.Resource) builtin.Resource {
	return builtin.Resource{URN: r.URN, Type: r.Type, ID: r.ID, Provider: r.Provider, Outputs: r.Outputs}
}

// lacking returns an error for each object that was made and is missing in the state. The error has the ID, which nothing
// else shows. It is called after closing the record, which may have written what could not be written when the object was
// made.
func (s *resolved) lacking(ctx context.Context) (errs []error) {
	made := s.run.Unwritten()
	if len(made) == 0 {
		return nil
	}
	final, err := s.opened.settings.State.Load(ctx)
	if err != nil || final == nil {
		final = &state.Snapshot{} // no object is certain to be recorded
	}
	for _, m := range made {
		if slices.ContainsFunc(final.Resources, func(r *state.Resource) bool { return r.URN == m.URN && r.ID == m.ID }) {
			continue
		}
		adopt := advice.Advice{Action: advice.Adopt, URNs: []urn.URN{m.URN}, ID: m.ID}
		errs = append(errs, advice.Errorf(adopt,
			"%s: the object with the ID %s was made. It has to be recorded when the state can be written again", m.URN, m.ID))
	}
	return errs
}

// cancelAnalyzers calls Cancel of the analyzers; close waits for it.
func (s *resolved) cancelAnalyzers() {
	for _, a := range s.packs.analyzers {
		s.background.run(func() {
			ctx, cancel := context.WithTimeout(s.operations, cancelTimeout)
			defer cancel()
			if err := a.Cancel(ctx); err != nil {
				s.opened.settings.Log.Warn("asking a policy pack to cancel", "pack", a.Info().Name, "error", err)
			}
		})
	}
}

// runProgram runs the program and informs the run. An error of the program after an interrupt is a consequence of it and not a
// failure. The end of the caller's context is an interrupt.
func (s *resolved) runProgram(ctx, caller, over context.Context) {
	if !s.opened.settings.RunsProgram() {
		s.run.EndOfProgram()
		return
	}
	pipeline.Attempt(func() (err error) {
		if p := panics.Try(func() {
			err = s.opened.settings.Program.Run(ctx, source.Host{
				Monitor: s.monitor(), MonitorService: s.server, Engine: s.opened.settings.Engine, Over: over,
			})
		}); p != nil {
			return fmt.Errorf("the program: %w", panicked(p))
		}
		return err
	}, func(err error) {
		if p, unreadable := err.(*pipeline.PanicError); unreadable {
			err = fmt.Errorf("the program: %w", p)
		}
		s.programEnded(ctx, caller, err)
	})
}

// programEnded informs the run of the end of the program.
func (s *resolved) programEnded(ctx, caller context.Context, err error) {
	switch {
	case err == nil:
		s.run.EndOfProgram()
	case s.opened.settings.Stopped(), caller.Err() != nil:
		s.run.Halt()
	case errors.Is(context.Cause(ctx), errProgramStays):
		s.run.ProgramFailed(errProgramStays, false)
	default:
		s.run.ProgramFailed(err, errors.Is(err, source.ErrReported))
	}
}
