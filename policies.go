package sluice

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/stages"
)

// OpenPolicyPack reads the manifest of the policy pack in a folder, and its configuration from a JSON file, whose name may
// be "". The pack is started by each operation that has it in its [Options]. Of o the places of plugins and the Engine
// service count.
func OpenPolicyPack(directory, configFile string, o PluginOptions) (*policy.Pack, error) {
	options := policy.Options{Finder: plugin.Finder{
		Project: o.ProjectPlugins, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn,
	}}
	if o.Engine != nil {
		options.EngineAddress = o.Engine.Address()
	}
	return policy.Open(directory, configFile, options)
}

// errPolicyConfig is returned when the problems have been shown.
var errPolicyConfig = errors.New("validating policy config")

// loadPolicies starts the policy packs, all at once, before anything is decided (steps.md 11.4). It returns the first error
// in the packs' order, because the others are often the same.
func (s *session) loadPolicies(ctx context.Context) error {
	if !s.runsProgram() {
		return nil
	}
	r, packs := s.deployment, s.options.PolicyPacks
	loaded := make([]*policy.Analyzer, len(packs))
	errs := make([]error, len(packs))
	loading := pool.New()
	for i, p := range packs {
		r.Emit(stages.PolicyLoad{})
		loading.Go(func() { loaded[i], errs[i] = p.Load(r.Admitted(), r.Monitor()) })
	}
	loading.Wait()
	analyzers := slices.Clone(s.options.Analyzers)
	for _, a := range loaded {
		if a != nil {
			s.loaded = append(s.loaded, a)
			analyzers = append(analyzers, a)
		}
	}
	r.SetAnalyzers(analyzers)
	// An interrupt from now on, or one that came meanwhile, asks them to cancel.
	s.options.Interrupts.watch(s.cancelPolicies, func() {})
	s.releasePolicies = context.AfterFunc(ctx, s.cancelPolicies)
	return s.policyErrors(errs)
}

// policyErrors shows what is wrong with configurations, ordered, and returns what else is wrong.
func (s *session) policyErrors(errs []error) error {
	var problems []string
	for _, err := range errs {
		var config *policy.ConfigError
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
		s.deployment.Emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: p}})
	}
	return errPolicyConfig
}

// cancelPolicies asks the analyzers to give up; session.close waits for it.
func (s *session) cancelPolicies() {
	for _, a := range s.deployment.Analyzers() {
		s.background.run(func() {
			ctx, cancel := context.WithTimeout(s.operations, cancelTimeout)
			defer cancel()
			if err := a.Cancel(ctx); err != nil {
				s.options.Log.Warn("asking a policy pack to cancel", "pack", a.Info().Name, "error", err)
			}
		})
	}
}

// closePolicies ends the processes of the packs.
func (s *session) closePolicies() {
	if s.releasePolicies != nil {
		s.releasePolicies()
	}
	closing := pool.New()
	for _, a := range s.loaded {
		closing.Go(func() {
			if err := a.Close(); err != nil {
				s.options.Log.Warn("closing a policy pack", "pack", a.Info().Name, "error", err)
			}
		})
	}
	closing.Wait()
}
