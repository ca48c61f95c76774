package operation

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// packs are the loaded policy packs of an operation.
type packs struct {
	loaded []source.PolicyAnalyzer
	// analyzers are all analyzers: those of the caller, then the packs.
	analyzers []stages.Analyzer
	// releases detach the analyzers from the end of the caller's context.
	releases []func() bool
}

// errPolicyConfig is returned when the problems have been shown.
var errPolicyConfig = errors.New("validating policy config")

// loadPacks starts the policy packs, all at once, before anything is decided (steps.md 11.4). It returns the packs that
// were loaded, and the first error in the packs' order, because the others are often the same.
func (o *opened) loadPacks(ctx context.Context) (*packs, error) {
	p := &packs{}
	if !o.settings.RunsProgram() {
		return p, nil
	}
	// The packs live as long as the operation, unless it is interrupted.
	until, stop := context.WithCancelCause(o.operations)
	interrupt := func() { stop(stages.ErrShutDown) }
	o.settings.OnInterrupt(interrupt, func() {})
	p.releases = append(p.releases, context.AfterFunc(ctx, interrupt))

	found := make([]source.PolicyAnalyzer, len(o.settings.PolicyPacks))
	errs := make([]error, len(o.settings.PolicyPacks))
	loading := pool.New()
	for i, pack := range o.settings.PolicyPacks {
		o.events.emit(stages.PolicyLoad{})
		loading.Go(func() { found[i], errs[i] = pack.Load(until, o.settings.Stages.Info, o.events.show) })
	}
	loading.Wait()
	p.analyzers = slices.Clone(o.settings.Stages.Judges.Analyzers)
	for _, a := range found {
		if a != nil {
			p.loaded = append(p.loaded, a)
			p.analyzers = append(p.analyzers, a)
		}
	}
	if interrupted := context.Cause(until); interrupted != nil {
		return p, &stages.ReportedError{Err: interrupted} // other errors are consequences of the interrupt
	}
	return p, o.policyErrors(errs)
}

// policyErrors shows the errors in configurations, in order, and returns the other errors.
func (o *opened) policyErrors(errs []error) error {
	var problems []string
	for _, err := range errs {
		var config source.PolicyConfigError
		switch {
		case errors.As(err, &config):
			problems = append(problems, config.Messages()...)
		case err != nil:
			return err
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, strings.Compare)
	for _, p := range problems {
		o.events.showError(p)
	}
	return errPolicyConfig
}

// cancelAnalyzers calls Cancel of the analyzers; close waits for it.
func (s *resolved) cancelAnalyzers() {
	for _, a := range s.packs.analyzers {
		s.opened.background.run(func() {
			ctx, cancel := context.WithTimeout(s.opened.operations, cancelTimeout)
			defer cancel()
			if err := a.Cancel(ctx); err != nil {
				s.opened.settings.Log.Warn("asking a policy pack to cancel", "pack", a.Info().Name, "error", err)
			}
		})
	}
}

// close ends the processes of the packs.
func (p *packs) close(log *slog.Logger) {
	for _, release := range p.releases {
		release()
	}
	closing := pool.New()
	for _, a := range p.loaded {
		closing.Go(func() {
			if err := a.Close(); err != nil {
				log.Warn("closing a policy pack", "pack", a.Info().Name, "error", err)
			}
		})
	}
	closing.Wait()
}
